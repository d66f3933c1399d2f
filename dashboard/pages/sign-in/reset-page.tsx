import { Button, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { CuelineError } from '../../../src/client/index.ts';
import { NewPasswordField } from '../../components/fields/new-password-field.tsx';
import { FormError, fieldError } from '../../components/states/form-error.tsx';
import { cueline } from '../../data/client/client.ts';
import { StandalonePage } from '../../shell/standalone-page.tsx';

const route = getRouteApi('/sign-in/reset/$token');

/** Sets a new password with the link of an e-mail. */
export function ResetPage() {
  const { token } = route.useParams();
  const [password, setPassword] = useState('');
  const reset = useMutation({
    mutationFn: () => cueline.session.resetPassword({ token, newPassword: password }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    reset.mutate();
  };
  if (reset.isSuccess) {
    return (
      <StandalonePage
        title="Password changed"
        description="All sessions have ended. Sign in with the new password."
      >
        <Link to="/sign-in">Sign in</Link>
      </StandalonePage>
    );
  }
  return (
    <StandalonePage title="Choose a new password">
      <form onSubmit={submit}>
        <Stack gap="md">
          <NewPasswordField
            label="New password"
            value={password}
            error={fieldError(reset.error, 'newPassword')}
            onChange={setPassword}
          />
          <Button type="submit" fullWidth loading={reset.isPending}>
            Change password
          </Button>
          <FormError
            error={reset.error}
            message={
              isInvalidLink(reset.error)
                ? 'The link is unknown, used or has expired. Request a new one.'
                : undefined
            }
          />
          <Link to="/sign-in/reset">Request a new link</Link>
        </Stack>
      </form>
    </StandalonePage>
  );
}

function isInvalidLink(error: unknown): boolean {
  if (!(error instanceof CuelineError) || error.status !== 400) return false;
  return fieldError(error, 'newPassword') === undefined;
}
