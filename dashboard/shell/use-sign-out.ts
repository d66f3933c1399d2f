import { chooseWorkspace, cueline } from '../data/client.ts';

/** Ends the session, and forgets everything that was read with it: the page begins anew. */
export function useSignOut(): () => Promise<void> {
  return async () => {
    await cueline.session.signOut();
    chooseWorkspace(null);
    location.assign('/sign-in');
  };
}
