import { Button, Stack, TextInput } from '@mantine/core';
import { Link, useLocation, useRouter } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { OpenedInvitation } from '../../../src/client/index.ts';
import { NewPasswordField } from '../../components/fields/new-password-field.tsx';
import { FormProblem, fieldProblem } from '../../components/form-error.tsx';
import { useAcceptInvitation } from '../../data/workspace/invitations.ts';

/**
 * Who is signed in as the invited address accepts with a click. Anyone else makes its account, or has one and signs in:
 * which of the two, the server does not tell whoever holds the link.
 */
export function AcceptInvitation(props: {
  readonly token: string;
  readonly invitation: OpenedInvitation;
  /** The address, or null for nobody. */
  readonly signedInAs: string | null;
}) {
  const { token, invitation, signedInAs } = props;
  const isMine = signedInAs === invitation.email;
  const router = useRouter();
  const { pathname } = useLocation();
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  // The client is made for one workspace: the page begins anew.
  const enter = () => location.assign(router.buildLocation({ to: '/' }).href);
  const accept = useAcceptInvitation(token, enter);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    accept.mutate(isMine ? null : { name, password });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        {!isMine && (
          <>
            <p>
              {signedInAs !== null && `You are ${signedInAs} here. `}Does this address have an
              account?{' '}
              <Link to="/sign-in" search={{ from: pathname }}>
                Sign in with it
              </Link>{' '}
              to accept; otherwise one is made now.
            </p>
            <TextInput
              label="Your name"
              autoComplete="name"
              required
              withAsterisk={false}
              maxLength={200}
              value={name}
              error={fieldProblem(accept.error, 'name')}
              onChange={({ currentTarget }) => setName(currentTarget.value)}
            />
            <NewPasswordField
              label="Password"
              value={password}
              error={fieldProblem(accept.error, 'password')}
              onChange={setPassword}
            />
          </>
        )}
        <FormProblem error={accept.error} />
        <Button type="submit" fullWidth loading={accept.isPending}>
          Accept the invitation
        </Button>
      </Stack>
    </form>
  );
}
