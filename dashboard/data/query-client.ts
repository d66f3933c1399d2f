import { QueryCache, QueryClient } from '@tanstack/react-query';
import { CuelineError } from '../../src/client/index.ts';

/** The session has ended, or there was none. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof CuelineError && error.status === 401;
}

/** Told when an answer says so; the router is put here, which knows the way to the sign-in page. */
export const sessionEnd = { tell: () => {} };

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    // Whoever asks who is signed in looks at the answer themselves.
    onError: (error, { queryKey }) => {
      if (isSignedOut(error) && queryKey[0] !== 'me') sessionEnd.tell();
    },
  }),
  defaultOptions: {
    // The client tries again by itself where that helps and is safe.
    queries: { retry: false, staleTime: 10_000 },
    mutations: { retry: false },
  },
});
