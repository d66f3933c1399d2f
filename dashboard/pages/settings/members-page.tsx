import { NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Member, Role } from '../../../src/client/index.ts';
import { may, useMe } from '../../data/me.ts';
import { membersQuery, useChangeRole } from '../../data/members.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { FormProblem } from '../../parts/form-problem.tsx';
import { Time } from '../../parts/time.tsx';
import { Invitations } from './invitations.tsx';
import { RemoveMember } from './remove-member.tsx';
import classes from './settings.module.css';

export const roles = ['viewer', 'editor', 'owner'] as const satisfies Role[];

export function MembersPage() {
  const owner = may(useMe(), 'own');
  const members = useQuery(membersQuery);
  const change = useChangeRole();
  if (members.isError && !members.data) {
    return <ErrorState error={members.error} onRetry={() => void members.refetch()} />;
  }
  const role: Column<Member> = {
    key: 'role',
    header: 'Role',
    cell: (member) =>
      owner ? (
        <NativeSelect
          size="xs"
          w="6.5rem"
          aria-label={`Role of ${member.email}`}
          data={[...roles]}
          value={member.role}
          disabled={change.isPending}
          onChange={({ currentTarget }) =>
            change.mutate({ userId: member.userId, role: currentTarget.value as Role })
          }
        />
      ) : (
        member.role
      ),
  };
  const remove: Column<Member> = {
    key: 'remove',
    header: 'Actions',
    align: 'right',
    cell: (member) => <RemoveMember member={member} />,
  };
  return (
    <>
      <p className={classes.soft}>
        A viewer reads. An editor also edits, executes and issues keys. An owner also manages
        members, plan, providers and retention.
      </p>
      <FormProblem error={change.error} />
      <div className={classes.rows}>
        <DataTable
          caption="Members"
          columns={owner ? [person, role, joined, remove] : [person, role, joined]}
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
      <div>{name || email}</div>
      <div className={classes.address}>{email}</div>
    </>
  ),
};

const joined: Column<Member> = {
  key: 'joined',
  header: 'Since',
  from: 'sm',
  cell: ({ joinedAt }) => <Time at={joinedAt} since />,
};
