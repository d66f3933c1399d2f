import { NativeSelect } from '@mantine/core';
import type { Member, Role } from '../../../../src/client/index.ts';
import { useMe } from '../../../data/workspace/me.ts';
import { changeRole } from '../../../data/workspace/members.ts';
import { ConfirmDialog } from '../../../kit/confirm-dialog.tsx';
import { openDialog } from '../../../kit/dialog.tsx';

const roles = ['viewer', 'editor', 'owner'] as const satisfies Role[];

/** Asks for confirmation: an arrow key on the focused select already changes the value. */
export function RoleField({ member }: { readonly member: Member }) {
  return (
    <NativeSelect
      size="xs"
      w="6.5rem"
      aria-label={`Role of ${member.email}`}
      data={[...roles]}
      value={member.role}
      onChange={({ currentTarget }) =>
        openDialog(<ChangeRole member={member} role={currentTarget.value as Role} />)
      }
    />
  );
}

function ChangeRole({ member, role }: { readonly member: Member; readonly role: Role }) {
  const { userId, email } = member;
  const isMe = useMe().user.userId === userId;
  return (
    <ConfirmDialog
      title={isMe ? 'Change your own role?' : `Change the role of ${email}?`}
      confirm={`Change to ${role}`}
      destructive={isMe || role === 'owner'}
      action={changeRole(userId, role)}
    >
      {isMe ? 'You' : email} will be {role === 'viewer' ? 'a' : 'an'} {role}. {consequences[role]}
      {isMe && ' Only another owner can undo this.'}
    </ConfirmDialog>
  );
}

const consequences: Readonly<Record<Role, string>> = {
  viewer: 'Viewers can view everything but change nothing.',
  editor: 'Editors can edit, execute and create keys, but not manage members or settings.',
  owner: 'Owners can also manage members, plan, providers and retention, and remove other owners.',
};
