import { NativeSelect } from '@mantine/core';
import { useState } from 'react';
import type { Member, Role } from '../../../src/client/index.ts';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { useMe } from '../../data/workspace/me.ts';
import { useChangeRole } from '../../data/workspace/members.ts';

const roles = ['viewer', 'editor', 'owner'] as const satisfies Role[];

/** A role is asked for again before it is changed: in a list that has the focus, one press of an arrow key chooses. */
export function RoleField({ member }: { readonly member: Member }) {
  const isMe = useMe().user.userId === member.userId;
  const change = useChangeRole();
  const [asked, ask] = useState<Role | null>(null);
  const who = isMe ? 'You' : member.email;
  const choose = (role: Role) => {
    change.reset();
    ask(role);
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
        opened={asked !== null}
        title={isMe ? 'Change your own role?' : `Change the role of ${member.email}?`}
        verb={`Make ${isMe ? 'me' : 'them'} ${asked ?? ''}`}
        destructive={isMe || asked === 'owner'}
        order={change}
        onClose={() => ask(null)}
        onConfirm={() =>
          asked &&
          change.mutate({ userId: member.userId, role: asked }, { onSuccess: () => ask(null) })
        }
      >
        {who} {isMe ? 'become' : 'becomes'} {article(asked)}: {consequences[asked ?? 'viewer']}
        {isMe && ' Only another owner can take that back.'}
      </ConfirmDialog>
    </>
  );
}

const article = (role: Role | null) => (role === 'viewer' ? 'a viewer' : `an ${role}`);

const consequences: Readonly<Record<Role, string>> = {
  viewer: 'reads everything there is to read, and changes nothing.',
  editor: 'also edits, executes and issues keys, and manages neither members nor settings.',
  owner: 'also manages members, plan, providers and retention, and can take the role from others.',
};
