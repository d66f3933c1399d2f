import { queryOptions, useQueryClient } from '@tanstack/react-query';
import type { InvitationInput, Role } from '../../../src/client/index.ts';
import { serverPath } from '../client/base-path.ts';
import { chooseWorkspace, cueline } from '../client/client.ts';
import { useInvalidatingMutation } from '../client/use-invalidating-mutation.ts';
import { useSingleFlight } from '../client/use-single-flight.ts';
import { meQuery, useMe } from './me.ts';

export const membersQuery = queryOptions({
  queryKey: ['members', 'list'],
  queryFn: ({ signal }) => cueline.members.list({ signal }),
});

export type Invitation = Awaited<ReturnType<typeof cueline.invitations.list>>[number];

export const invitationsQuery = queryOptions({
  queryKey: ['members', 'invitations'],
  queryFn: ({ signal }) => cueline.invitations.list({ signal }),
});

export function useChangeRole() {
  const queries = useQueryClient();
  return useSingleFlight({
    meta: { saved: 'Saved' },
    mutationFn: ({ userId, role }: { userId: string; role: Role }) =>
      cueline.members.update(userId, role),
    onSettled: (_member, _error, { userId }) => {
      void queries.invalidateQueries({ queryKey: ['members'] });
      // The available actions depend on the user's own role.
      const me = queries.getQueryData(meQuery.queryKey);
      if (me?.user.userId === userId)
        void queries.invalidateQueries({ queryKey: meQuery.queryKey });
    },
  });
}

export const useRemoveMember = () =>
  useInvalidatingMutation(
    (userId: string) => cueline.members.remove(userId),
    ['members'],
    'Member removed',
  );

/** The user loses access: reload, which opens another workspace if they have one. */
export function useLeaveWorkspace() {
  const { userId } = useMe().user;
  return useSingleFlight(
    {
      mutationFn: () => cueline.members.remove(userId),
      onSuccess: () => {
        chooseWorkspace(null);
        location.assign(serverPath('/'));
      },
    },
    { leadsAway: true },
  );
}

/** The result holds the link, which is shown once. */
export const useInvite = () =>
  useInvalidatingMutation(
    (invitation: InvitationInput) => cueline.invitations.create(invitation),
    ['members'],
    'Invitation created',
  );

export const useRevokeInvitation = () =>
  useInvalidatingMutation(
    (invitationId: string) => cueline.invitations.delete(invitationId),
    ['members'],
    'Invitation revoked',
  );
