import { MutationCache, QueryCache, QueryClient, type QueryKey } from '@tanstack/react-query';
import { CuelineError } from '../../../src/client/index.ts';
import { reportFailure, reportSuccess } from './connection.ts';
import { isSignedOut } from './error-status.ts';
import { announceSave } from './saves.ts';

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
    onSuccess: () => reportSuccess(),
    // Callers of the `me` query handle its errors themselves.
    onError: (error, { queryKey }) => {
      reportFailure(error);
      if (queryKey[0] === me) return;
      if (isSignedOut(error)) sessionEnd.notify();
      refetchMeOnForbidden(error);
    },
  }),
  mutationCache: new MutationCache({
    onSuccess: (_result, _input, _context, { meta }) => {
      reportSuccess();
      if (meta?.saved) announceSave(meta.saved);
    },
    onError: (error, _input, _context, { options }) => {
      reportFailure(error);
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

declare module '@tanstack/react-query' {
  interface Register {
    /** `saved` is announced once the mutation succeeds, for example `Saved`. */
    mutationMeta: { readonly saved?: string };
  }
}

/** A 403 on an offered action: the role has changed, or another user has signed in. */
function refetchMeOnForbidden(error: unknown): void {
  if (!(error instanceof CuelineError) || error.status !== 403) return;
  void queryClient.invalidateQueries({ queryKey: [me] });
}

/** Drops cached data of a deleted resource; a mounted page refetches and shows the 404. */
export function resetQuery(queryKey: QueryKey): void {
  void queryClient.resetQueries({ queryKey });
}
