import { MutationCache, QueryCache, QueryClient, type QueryKey } from '@tanstack/react-query';
import { CuelineError } from '../../../src/client/index.ts';
import { isSignedOut } from './signed-out.ts';

/**
 * Told when an answer says that the session has ended; the shell is put here, which asks for another one. `refused` takes
 * back what the page says of calls that were refused for it.
 */
export const sessionEnd = { tell: () => {}, refused: new Set<() => void>() };

/** To sign in takes no session: the same status says there that the password is wrong. */
const signsIn = 'sign-in';
const me = 'me';

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    // Whoever asks who is signed in looks at the answer themselves.
    onError: (error, { queryKey }) => {
      if (queryKey[0] === me) return;
      if (isSignedOut(error)) sessionEnd.tell();
      lookWhoItIs(error);
    },
  }),
  mutationCache: new MutationCache({
    onError: (error, _input, _context, { options }) => {
      if (isSignedOut(error) && options.mutationKey?.[0] !== signsIn) sessionEnd.tell();
      lookWhoItIs(error);
    },
  }),
  defaultOptions: {
    // The client tries again by itself where that helps and is safe.
    // The server may be this very machine: that the browser is offline says nothing of the way to it.
    queries: { retry: false, staleTime: 10_000, networkMode: 'always' },
    mutations: { retry: false, networkMode: 'always' },
  },
});

/** Offered and yet refused: their role is another one by now, or the browser's session that of somebody else. */
function lookWhoItIs(error: unknown): void {
  if (!(error instanceof CuelineError) || error.status !== 403) return;
  void queryClient.invalidateQueries({ queryKey: [me] });
}

/** Whoever comes back to what was deleted asks anew; a page that is back there already does so now. */
export function forget(queryKey: QueryKey): void {
  void queryClient.resetQueries({ queryKey });
}
