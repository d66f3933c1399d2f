import { useMutation } from '@tanstack/react-query';
import { chooseWorkspace, cueline } from '../data/client/client.ts';

/**
 * Ends the session, and forgets everything that was read and written with it: drafts and values of prompts stand in the
 * window's storage, and whoever uses the window next has no business with them. Then the page begins anew.
 */
export function useSignOut() {
  return useMutation({
    mutationFn: () => cueline.session.signOut(),
    onSuccess: () => {
      chooseWorkspace(null);
      sessionStorage.clear();
      location.assign('/sign-in');
    },
  });
}
