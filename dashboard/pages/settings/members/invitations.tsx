import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { Role } from '../../../../src/client/index.ts';
import { CodeBlock } from '../../../components/code/code-block.tsx';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { Time } from '../../../components/figures/time.tsx';
import { Card } from '../../../components/layout/card.tsx';
import { ErrorState } from '../../../components/states/error-state.tsx';
import { FormError, fieldError } from '../../../components/states/form-error.tsx';
import { type Column, DataTable } from '../../../components/tables/data-table.tsx';
import {
  type Invitation,
  invitationsQuery,
  useInvite,
  useRevokeInvitation,
} from '../../../data/workspace/members.ts';
import classes from '../settings.module.css';

/** Creates invitation links; the server sends them if it is configured to send e-mail. */
export function Invitations() {
  const open = useQuery(invitationsQuery);
  const invite = useInvite();
  // Hide the link of a revoked invitation.
  const hideLink = (id: string) => id === invite.data?.invitationId && invite.reset();
  const columns: Column<Invitation>[] = [
    {
      key: 'email',
      header: 'Email',
      cell: ({ email }) => <span className={classes.email}>{email}</span>,
    },
    { key: 'role', header: 'Role', hideBelow: 'sm', cell: ({ role }) => role },
    {
      key: 'expires',
      header: 'Expires',
      hideBelow: 'sm',
      cell: ({ expiresAt }) => <Time at={expiresAt} relative />,
    },
    {
      key: 'actions',
      header: 'Actions',
      align: 'right',
      cell: (invitation) => <RevokeInvitation invitation={invitation} onRevoked={hideLink} />,
    },
  ];
  return (
    <Card title="Invite a member">
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

function RevokeInvitation(props: {
  readonly invitation: Invitation;
  readonly onRevoked: (invitationId: string) => void;
}) {
  const { invitationId, email } = props.invitation;
  const revoke = useRevokeInvitation();
  const [isConfirming, { open, close }] = useDisclosure();
  const hideLink = () => {
    props.onRevoked(invitationId);
    close();
  };
  return (
    <>
      <Button
        size="xs"
        variant="default"
        aria-label={`Revoke invitation of ${email}`}
        onClick={open}
      >
        Revoke
      </Button>
      <ConfirmDialog
        opened={isConfirming}
        title={`Revoke the invitation of ${email}?`}
        confirmLabel="Revoke"
        destructive
        mutation={revoke}
        onClose={close}
        onConfirm={() => revoke.mutate(invitationId, { onSuccess: hideLink })}
      >
        The link stops working and cannot be restored. To invite them again, create a new link.
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
          label="Email"
          type="email"
          required
          withAsterisk={false}
          w="20rem"
          maw="100%"
          value={email}
          error={fieldError(invite.error, 'email')}
          onChange={({ currentTarget }) => setEmail(currentTarget.value)}
        />
        <NativeSelect
          label="Role"
          data={['viewer', 'editor', 'owner']}
          value={role}
          onChange={({ currentTarget }) => setRole(currentTarget.value as Role)}
        />
        <Button type="submit" loading={invite.isPending}>
          Create link
        </Button>
      </Group>
      <FormError error={invite.error} />
      {invite.data && (
        <div role="status" className={classes.text}>
          <p>
            {invite.data.emailed
              ? `The invitation was sent to ${invite.data.email}.`
              : `Send this link to ${invite.data.email}.`}{' '}
            The link is shown only once, and anyone who opens it can join as {invite.data.role}.
          </p>
          <CodeBlock label="Invitation link" code={invite.data.url} />
        </div>
      )}
    </form>
  );
}
