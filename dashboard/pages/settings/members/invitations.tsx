import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { InvitationInput, IssuedInvitation, Role } from '../../../../src/client/index.ts';
import { CodeBlock } from '../../../components/code/code-block.tsx';
import { Time } from '../../../components/figures/time.tsx';
import { Card } from '../../../components/layout/card.tsx';
import { FormError, fieldError } from '../../../components/states/form-error.tsx';
import type { Column } from '../../../components/tables/data-table.tsx';
import { type Invitation, invitations } from '../../../data/workspace/members.ts';
import { ConfirmButton } from '../../../kit/confirm-dialog.tsx';
import { List } from '../../../kit/list.tsx';
import { useAction } from '../../../kit/resource.ts';

/** Creates invitation links; the server sends them if it is configured to send e-mail. */
export function Invitations() {
  const invite = useAction(invitations.create());
  return (
    <Card title="Invite a member">
      <InviteForm invite={invite} />
      <List
        caption="Open invitations"
        query={useQuery(invitations.list())}
        rows={(open) => open}
        rowKey={({ invitationId }) => invitationId}
        columns={columns}
        actions={(invitation) => (
          <RevokeInvitation
            invitation={invitation}
            // Hides the link of a revoked invitation.
            onRevoked={(id) => id === invite.data?.invitationId && invite.reset()}
          />
        )}
        empty={null}
      />
    </Card>
  );
}

const columns: readonly Column<Invitation>[] = [
  { header: 'Email', cell: ({ email }) => <span className="wide-text">{email}</span> },
  { header: 'Role', hideBelow: 'sm', cell: ({ role }) => role },
  { header: 'Expires', hideBelow: 'sm', cell: ({ expiresAt }) => <Time at={expiresAt} relative /> },
];

function RevokeInvitation(props: {
  readonly invitation: Invitation;
  readonly onRevoked: (invitationId: string) => void;
}) {
  const { invitationId, email } = props.invitation;
  return (
    <ConfirmButton
      label="Revoke"
      of={`invitation of ${email}`}
      title={`Revoke the invitation of ${email}?`}
      action={invitations.remove(invitationId)}
      onDone={() => props.onRevoked(invitationId)}
    >
      The link stops working and cannot be restored. To invite them again, create a new link.
    </ConfirmButton>
  );
}

type Invite = ReturnType<typeof useAction<InvitationInput, IssuedInvitation>>;

function InviteForm({ invite }: { readonly invite: Invite }) {
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
        <div role="status" className="intro">
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
