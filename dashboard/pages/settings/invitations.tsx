import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { Role } from '../../../src/client/index.ts';
import { Card } from '../../components/card.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { FormProblem, fieldProblem } from '../../components/form-error.tsx';
import { Time } from '../../components/time.tsx';
import {
  type Invitation,
  invitationsQuery,
  useInvite,
  useWithdraw,
} from '../../data/workspace/members.ts';
import classes from './settings.module.css';

/** A link to hand over; nothing is sent by itself. */
export function Invitations() {
  const open = useQuery(invitationsQuery);
  const invite = useInvite();
  // A link that leads nowhere any more is not handed over.
  const withdrawn = (id: string) => id === invite.data?.invitationId && invite.reset();
  const columns: Column<Invitation>[] = [
    {
      key: 'email',
      header: 'Invited',
      cell: ({ email }) => <span className={classes.email}>{email}</span>,
    },
    { key: 'role', header: 'As', from: 'sm', cell: ({ role }) => role },
    {
      key: 'expires',
      header: 'Until',
      from: 'sm',
      cell: ({ expiresAt }) => <Time at={expiresAt} since />,
    },
    {
      key: 'actions',
      header: 'Actions',
      align: 'right',
      cell: (invitation) => <Withdraw invitation={invitation} onWithdrawn={withdrawn} />,
    },
  ];
  return (
    <Card title="Invite someone">
      <InviteForm invite={invite} />
      {open.isError && !open.data ? (
        <ErrorState error={open.error} onRetry={() => void open.refetch()} />
      ) : (
        open.data &&
        open.data.length > 0 && (
          <DataTable
            caption="Open invitations"
            columns={columns}
            rows={open.data}
            rowKey={({ invitationId }) => invitationId}
          />
        )
      )}
    </Card>
  );
}

function Withdraw(props: {
  readonly invitation: Invitation;
  readonly onWithdrawn: (invitationId: string) => void;
}) {
  const { invitationId, email } = props.invitation;
  const withdraw = useWithdraw();
  const [asked, { open, close }] = useDisclosure();
  const withdrawn = () => {
    props.onWithdrawn(invitationId);
    close();
  };
  return (
    <>
      <Button
        size="xs"
        variant="default"
        aria-label={`Withdraw the invitation of ${email}`}
        onClick={open}
      >
        Withdraw
      </Button>
      <ConfirmDialog
        opened={asked}
        title={`Withdraw the invitation of ${email}?`}
        verb="Withdraw"
        destructive
        order={withdraw}
        onClose={close}
        onConfirm={() => withdraw.mutate(invitationId, { onSuccess: withdrawn })}
      >
        Its link leads nowhere from then on, and cannot be had again: they would need another one.
      </ConfirmDialog>
    </>
  );
}

function InviteForm({ invite }: { readonly invite: ReturnType<typeof useInvite> }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('editor');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    invite.mutate({ email, role }, { onSuccess: () => setEmail('') });
  };
  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="xs" mb="md">
        <TextInput
          label="E-mail"
          type="email"
          required
          withAsterisk={false}
          w="20rem"
          maw="100%"
          value={email}
          error={fieldProblem(invite.error, 'email')}
          onChange={({ currentTarget }) => setEmail(currentTarget.value)}
        />
        <NativeSelect
          label="Role"
          data={['viewer', 'editor', 'owner']}
          value={role}
          onChange={({ currentTarget }) => setRole(currentTarget.value as Role)}
        />
        <Button type="submit" loading={invite.isPending}>
          Make the link
        </Button>
      </Group>
      <FormProblem error={invite.error} />
      {invite.data && (
        <div role="status" className={classes.words}>
          <p>
            Hand this link to {invite.data.email}. It is shown this once; whoever opens it can join
            as {invite.data.role}.
          </p>
          <CodeBlock label="Invitation" code={invite.data.url} />
        </div>
      )}
    </form>
  );
}
