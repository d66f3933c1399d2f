import { Button, Stack, TextInput } from '@mantine/core';
import { Link, useLocation, useRouter } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { OpenedInvitation } from '../../../src/client/index.ts';
import { NewPasswordField } from '../../components/fields/new-password-field.tsx';
import { FormError, fieldError } from '../../components/states/form-error.tsx';
import { useAcceptInvitation } from '../../data/workspace/invitations.ts';

/**
 * A user signed in with the invited address accepts with a click. Others create an account or sign in to one; the
 * server does not reveal to the holder of the link whether one exists.
 */
export function AcceptInvitation(props: {
  readonly token: string;
  readonly invitation: OpenedInvitation;
  /** Null if signed out. */
  readonly signedInAs: string | null;
}) {
  const { token, invitation, signedInAs } = props;
  const isMine = signedInAs === invitation.email;
  const router = useRouter();
  const { pathname } = useLocation();
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  // Full page load: the API client is bound to one workspace.
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
              {signedInAs !== null && `You are signed in as ${signedInAs}. `}Already have an account
              for this address?{' '}
              <Link to="/sign-in" search={{ from: pathname }}>
                Sign in
              </Link>{' '}
              to accept. Otherwise, create one below.
            </p>
            <TextInput
              label="Your name"
              autoComplete="name"
              required
              withAsterisk={false}
              maxLength={200}
              value={name}
              error={fieldError(accept.error, 'name')}
              onChange={({ currentTarget }) => setName(currentTarget.value)}
            />
            <NewPasswordField
              label="Password"
              value={password}
              error={fieldError(accept.error, 'password')}
              onChange={setPassword}
            />
          </>
        )}
        <FormError error={accept.error} />
        <Button type="submit" fullWidth loading={accept.isPending}>
          Accept invitation
        </Button>
      </Stack>
    </form>
  );
}
