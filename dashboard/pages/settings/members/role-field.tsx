import { NativeSelect } from '@mantine/core';
import { useState } from 'react';
import type { Member, Role } from '../../../../src/client/index.ts';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { useMe } from '../../../data/workspace/me.ts';
import { useChangeRole } from '../../../data/workspace/members.ts';

const roles = ['viewer', 'editor', 'owner'] as const satisfies Role[];

/** Asks for confirmation: an arrow key on the focused select already changes the value. */
export function RoleField({ member }: { readonly member: Member }) {
  const isMe = useMe().user.userId === member.userId;
  const change = useChangeRole();
  const [newRole, setNewRole] = useState<Role | null>(null);
  const who = isMe ? 'You' : member.email;
  const choose = (role: Role) => {
    change.reset();
    setNewRole(role);
  };
  return (
    <>
      <NativeSelect
        size="xs"
        w="6.5rem"
        aria-label={`Role of ${member.email}`}
        data={[...roles]}
        value={member.role}
        onChange={({ currentTarget }) => choose(currentTarget.value as Role)}
      />
      <ConfirmDialog
        opened={newRole !== null}
        title={isMe ? 'Change your own role?' : `Change the role of ${member.email}?`}
        confirmLabel={`Change to ${newRole ?? ''}`}
        destructive={isMe || newRole === 'owner'}
        mutation={change}
        onClose={() => setNewRole(null)}
        onConfirm={() =>
          newRole &&
          change.mutate(
            { userId: member.userId, role: newRole },
            { onSuccess: () => setNewRole(null) },
          )
        }
      >
        {who} will be {article(newRole)}. {consequences[newRole ?? 'viewer']}
        {isMe && ' Only another owner can undo this.'}
      </ConfirmDialog>
    </>
  );
}

const article = (role: Role | null) => (role === 'viewer' ? 'a viewer' : `an ${role}`);

const consequences: Readonly<Record<Role, string>> = {
  viewer: 'Viewers can view everything but change nothing.',
  editor: 'Editors can edit, execute and create keys, but not manage members or settings.',
  owner: 'Owners can also manage members, plan, providers and retention, and remove other owners.',
};
