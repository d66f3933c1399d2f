import { useMutation } from '@tanstack/react-query';
import { serverPath } from '../../data/client/base-path.ts';
import { chooseWorkspace, cueline } from '../../data/client/client.ts';

/**
 * Ends the session, clears drafts and typed values from session storage, and reloads: the next user of this window must
 * not see them.
 */
export function useSignOut() {
  return useMutation({
    mutationFn: () => cueline.session.signOut(),
    onSuccess: () => {
      chooseWorkspace(null);
      sessionStorage.clear();
      location.assign(serverPath('/sign-in'));
    },
  });
}
