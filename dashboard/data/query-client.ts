import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { isSignedOut } from './signed-out.ts';

/** Told when an answer says that the session has ended; the shell is put here, which asks for another one. */
export const sessionEnd = { tell: () => {} };

/** To sign in takes no session: the same status says there that the password is wrong. */
const signsIn = 'sign-in';

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    // Whoever asks who is signed in looks at the answer themselves.
    onError: (error, { queryKey }) => {
      if (isSignedOut(error) && queryKey[0] !== 'me') sessionEnd.tell();
    },
  }),
  mutationCache: new MutationCache({
    onError: (error, _input, _context, { options }) => {
      if (isSignedOut(error) && options.mutationKey?.[0] !== signsIn) sessionEnd.tell();
    },
  }),
  defaultOptions: {
    // The client tries again by itself where that helps and is safe.
    // The server may be this very machine: that the browser is offline says nothing of the way to it.
    queries: { retry: false, staleTime: 10_000, networkMode: 'always' },
    mutations: { retry: false, networkMode: 'always' },
  },
});
