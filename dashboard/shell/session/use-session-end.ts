import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { isSignedOut } from '../../data/client/error-status.ts';
import { sessionEnd } from '../../data/client/query-client.ts';
import { meQuery } from '../../data/workspace/me.ts';

/** Whether the session has ended while the page is open, and a callback for when a new one exists. */
export function useSessionEnd(): readonly [boolean, () => void] {
  const [expired, setEnded] = useState(false);
  const queries = useQueryClient();
  const router = useRouter();
  useEffect(() => {
    // Some calls return 401 for a wrong password: check the session before asking the user to sign in.
    sessionEnd.notify = () =>
      void queries.fetchQuery({ ...meQuery, staleTime: 0 }).catch((error: unknown) => {
        if (isSignedOut(error)) setEnded(true);
      });
    return () => {
      sessionEnd.notify = () => {};
    };
  }, [queries]);
  const resume = () => {
    setEnded(false);
    for (const clearError of sessionEnd.rejectedWrites) clearError();
    void queries.invalidateQueries();
    void router.invalidate();
  };
  return [expired, resume];
}
