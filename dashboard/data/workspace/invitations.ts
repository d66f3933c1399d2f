import { queryOptions } from '@tanstack/react-query';
import { chooseWorkspace, cueline } from '../client/client.ts';
import { useWrite } from '../client/use-single-flight.ts';

/** What the link would make that ends in this token. */
export const invitationQuery = (token: string) =>
  queryOptions({
    queryKey: ['invitation', token],
    queryFn: ({ signal }) => cueline.invitations.open(token, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Who makes their account with it is signed in with that; who is signed in already joins. */
export function useAcceptInvitation(token: string, onJoined: () => void) {
  return useWrite(
    {
      mutationFn: async (account: { name: string; password: string } | null) => {
        if (!account) return cueline.invitations.accept({ token });
        const accepted = await cueline.invitations.accept({ token, ...account });
        await cueline.session.signIn({ email: accepted.email, password: account.password });
        return accepted;
      },
      onSuccess: ({ workspaceId }) => {
        chooseWorkspace(workspaceId);
        onJoined();
      },
    },
    { leadsAway: true },
  );
}
