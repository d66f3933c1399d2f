import { useQuery } from '@tanstack/react-query';
import type { Member } from '../../../../src/client/index.ts';
import { Time } from '../../../components/figures/time.tsx';
import type { Column } from '../../../components/tables/data-table.tsx';
import { can, useMe } from '../../../data/workspace/me.ts';
import { leaveWorkspace, members, removeMember } from '../../../data/workspace/members.ts';
import { ConfirmButton } from '../../../kit/confirm-dialog.tsx';
import { List } from '../../../kit/list.tsx';
import { Invitations } from './invitations.tsx';
import { RoleField } from './role-field.tsx';

export function MembersPage() {
  const me = useMe();
  const owner = can(me, 'manage');
  const all = useQuery(members.list());
  const owners = (all.data ?? []).filter((one) => one.role === 'owner').length;
  return (
    <>
      <p className="note">
        Viewers have read access. Editors can also edit, execute and create keys. Owners can also
        manage members, plan, providers and retention.
      </p>
      <List
        caption="Members"
        query={all}
        rows={(all) => all}
        rowKey={({ userId }) => userId}
        columns={[
          person,
          {
            header: 'Role',
            cell: (member) => (owner ? <RoleField member={member} /> : member.role),
          },
          {
            header: 'Joined',
            hideBelow: 'sm',
            cell: ({ joinedAt }) => <Time at={joinedAt} relative />,
          },
        ]}
        actions={(member) => {
          // The server keeps the last owner, so that the workspace can still be managed.
          if (member.role === 'owner' && owners === 1) return null;
          if (member.userId === me.user.userId) return <Leave userId={member.userId} />;
          return owner && <Remove member={member} />;
        }}
        loadingRows={3}
        empty={null}
      />
      {owner && <Invitations />}
    </>
  );
}

const person: Column<Member> = {
  header: 'Member',
  cell: ({ name, email }) => (
    <>
      <div dir="auto">{name || email}</div>
      <div className="note">{email}</div>
    </>
  ),
};

/** In the user's own row. */
function Leave({ userId }: { readonly userId: string }) {
  return (
    <ConfirmButton
      label="Leave"
      of="this workspace"
      title="Leave this workspace?"
      action={leaveWorkspace(userId)}
    >
      You lose access to this workspace, and all keys that you created are revoked: calls with them
      will fail with 401. Everything else you created stays. Only an owner can invite you again.
    </ConfirmButton>
  );
}

function Remove({ member: { userId, email } }: { readonly member: Member }) {
  return (
    <ConfirmButton
      label="Remove"
      of={email}
      title={`Remove ${email}?`}
      action={removeMember(userId)}
    >
      They lose access to this workspace, and all keys that they created are revoked: calls with
      them will fail with 401. Everything else they created stays. Webhook secrets that they know
      stay valid: rotate them.
    </ConfirmButton>
  );
}
