import { useQuery } from '@tanstack/react-query';
import type { Member } from '../../../../src/client/index.ts';
import { Time } from '../../../components/figures/time.tsx';
import { ErrorState } from '../../../components/states/error-state.tsx';
import { StaleNotice } from '../../../components/states/stale-notice.tsx';
import { type Column, DataTable } from '../../../components/tables/data-table.tsx';
import { can, useMe } from '../../../data/workspace/me.ts';
import { membersQuery } from '../../../data/workspace/members.ts';
import classes from '../settings.module.css';
import { Invitations } from './invitations.tsx';
import { LeaveWorkspace } from './leave-workspace.tsx';
import { RemoveMember } from './remove-member.tsx';
import { RoleField } from './role-field.tsx';

export function MembersPage() {
  const me = useMe();
  const owner = can(me, 'manage');
  const members = useQuery(membersQuery);
  if (members.isError && !members.data) {
    return <ErrorState error={members.error} onRetry={() => void members.refetch()} />;
  }
  const owners = (members.data ?? []).filter((one) => one.role === 'owner').length;
  const role: Column<Member> = {
    key: 'role',
    header: 'Role',
    cell: (member) => (owner ? <RoleField member={member} /> : member.role),
  };
  const end: Column<Member> = {
    key: 'end',
    header: 'Actions',
    align: 'right',
    // The server keeps the last owner, so that the workspace can still be managed.
    cell: (member) => {
      if (member.role === 'owner' && owners === 1) return null;
      if (member.userId === me.user.userId) return <LeaveWorkspace />;
      return owner && <RemoveMember member={member} />;
    },
  };
  return (
    <>
      <p className={classes.muted}>
        Viewers have read access. Editors can also edit, execute and create keys. Owners can also
        manage members, plan, providers and retention.
      </p>
      <StaleNotice query={members} />
      <div className={classes.rows}>
        <DataTable
          caption="Members"
          columns={[person, role, joined, end]}
          rows={members.data}
          rowKey={({ userId }) => userId}
          loadingRows={3}
        />
      </div>
      {owner && <Invitations />}
    </>
  );
}

const person: Column<Member> = {
  key: 'person',
  header: 'Member',
  cell: ({ name, email }) => (
    <>
      <div dir="auto">{name || email}</div>
      <div className={classes.address}>{email}</div>
    </>
  ),
};

const joined: Column<Member> = {
  key: 'joined',
  header: 'Joined',
  hideBelow: 'sm',
  cell: ({ joinedAt }) => <Time at={joinedAt} relative />,
};
