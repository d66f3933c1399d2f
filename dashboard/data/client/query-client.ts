import { MutationCache, QueryCache, QueryClient, type QueryKey } from '@tanstack/react-query';
import { CuelineError } from '../../../src/client/index.ts';
import { isSignedOut } from './error-status.ts';

/**
 * Connects queries and mutations to the shell, which asks for a new sign-in when a response says that the session has
 * ended. `refused` holds callbacks that clear the errors of mutations rejected for that reason.
 */
export const sessionEnd = { notify: () => {}, rejectedWrites: new Set<() => void>() };

/** A 401 from sign-in means a wrong password, not an ended session. */
const signsIn = 'sign-in';
const me = 'me';

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    // Callers of the `me` query handle its errors themselves.
    onError: (error, { queryKey }) => {
      if (queryKey[0] === me) return;
      if (isSignedOut(error)) sessionEnd.notify();
      refetchMeOnForbidden(error);
    },
  }),
  mutationCache: new MutationCache({
    onError: (error, _input, _context, { options }) => {
      if (isSignedOut(error) && options.mutationKey?.[0] !== signsIn) sessionEnd.notify();
      refetchMeOnForbidden(error);
    },
  }),
  defaultOptions: {
    // The API client already retries where that is safe. The server may run on this machine, so `navigator.onLine` is
    // irrelevant.
    queries: { retry: false, staleTime: 10_000, networkMode: 'always' },
    mutations: { retry: false, networkMode: 'always' },
  },
});

/** A 403 on an offered action: the role has changed, or another user has signed in. */
function refetchMeOnForbidden(error: unknown): void {
  if (!(error instanceof CuelineError) || error.status !== 403) return;
  void queryClient.invalidateQueries({ queryKey: [me] });
}

/** Drops cached data of a deleted resource; a mounted page refetches and shows the 404. */
export function resetQuery(queryKey: QueryKey): void {
  void queryClient.resetQueries({ queryKey });
}
