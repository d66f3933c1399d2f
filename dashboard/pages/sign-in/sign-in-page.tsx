import { Button, Stack } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useRouter } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { EmailField } from '../../components/fields/email-field.tsx';
import { PasswordField } from '../../components/fields/password-field.tsx';
import { FormError } from '../../components/states/form-error.tsx';
import { serverPath } from '../../data/client/base-path.ts';
import { cueline } from '../../data/client/client.ts';
import { isSignedOut } from '../../data/client/error-status.ts';
import { queryClient } from '../../data/client/query-client.ts';
import { signInOptionsQuery } from '../../data/workspace/session-user.ts';
import { StandalonePage } from '../../shell/standalone-page.tsx';
import { IdentityButtons } from './identity-buttons.tsx';
import { identityErrorMessage } from './identity-errors.ts';

const route = getRouteApi('/sign-in');

export function SignInPage() {
  const { from = '/', error } = route.useSearch();
  const { history } = useRouter();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const options = useQuery(signInOptionsQuery).data;
  const signIn = useMutation({
    mutationKey: ['sign-in'],
    mutationFn: () => cueline.session.signIn({ email, password }),
    onSuccess: () => {
      queryClient.clear();
      history.replace(serverPath(from));
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate();
  };
  const identityError = error ? new Error(identityErrorMessage(error)) : null;
  return (
    <StandalonePage title="Sign in">
      <form onSubmit={submit}>
        <Stack gap="md">
          <EmailField value={email} onChange={setEmail} />
          <PasswordField value={password} onChange={setPassword} />
          <Button type="submit" fullWidth loading={signIn.isPending}>
            Sign in
          </Button>
          {/* Below the button, so that an error does not move it. */}
          <FormError
            error={signIn.error ?? identityError}
            message={isSignedOut(signIn.error) ? 'Wrong email or password.' : undefined}
          />
          {options?.passwordReset && <Link to="/sign-in/reset">Forgot your password?</Link>}
        </Stack>
      </form>
      <IdentityButtons from={from} />
    </StandalonePage>
  );
}
