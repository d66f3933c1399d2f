import type { Member, Role } from '../../../src/client/index.ts';
import { leaving } from '../../kit/deletion.ts';
import { type Action, resource } from '../../kit/resource.ts';
import { serverPath } from '../client/base-path.ts';
import { chooseWorkspace, cueline } from '../client/client.ts';
import { meQuery } from './me.ts';

export const members = resource('members', 'Member', cueline.members);

/** The result of a created one has its link, which is shown once. */
export const invitations = resource('invitations', 'Invitation', cueline.invitations);

export type Invitation = Awaited<ReturnType<typeof cueline.invitations.list>>[number];

/** The user's own role decides what the pages offer. */
export const changeRole = (userId: string, role: Role): Action<void, Member> => ({
  run: () => cueline.members.update(userId, role),
  ...{ saved: 'Saved', stale: [members.key, meQuery.queryKey] },
});

export const removeMember = (userId: string) =>
  members.action<void, void>(() => cueline.members.remove(userId), 'Member removed');

/** The user loses access: reload, which opens another workspace if they have one. */
export const leaveWorkspace = (userId: string) =>
  leaving(async () => {
    await cueline.members.remove(userId);
    chooseWorkspace(null);
    location.assign(serverPath('/'));
  });
