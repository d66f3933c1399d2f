import { queryOptions } from '@tanstack/react-query';
import { chooseWorkspace, cueline } from '../client/client.ts';
import { useSingleFlight } from '../client/use-single-flight.ts';

/** The invitation behind the token of a link. */
export const invitationQuery = (token: string) =>
  queryOptions({
    queryKey: ['invitation', token],
    queryFn: ({ signal }) => cueline.invitations.open(token, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Creates an account and signs in; `null` joins with the current session's account. */
export function useAcceptInvitation(token: string, onJoined: () => void) {
  return useSingleFlight(
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
