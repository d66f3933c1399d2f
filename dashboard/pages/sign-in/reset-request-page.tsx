import { Button, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { EmailField } from '../../components/fields/email-field.tsx';
import { FormError } from '../../components/states/form-error.tsx';
import { cueline } from '../../data/client/client.ts';
import { StandalonePage } from '../../shell/standalone-page.tsx';

/** Sends a link to reset a forgotten password. */
export function ResetRequestPage() {
  const [email, setEmail] = useState('');
  const request = useMutation({ mutationFn: () => cueline.session.requestPasswordReset(email) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    request.mutate();
  };
  return (
    <StandalonePage title="Reset your password">
      <form onSubmit={submit}>
        <Stack gap="md">
          <EmailField value={email} onChange={setEmail} />
          <Button type="submit" fullWidth loading={request.isPending}>
            Send link
          </Button>
          <FormError error={request.error} />
          {request.isSuccess && (
            <p role="status">
              If this address has an account with a password, a link is on its way. It works for one
              hour.
            </p>
          )}
          <Link to="/sign-in">Back to sign-in</Link>
        </Stack>
      </form>
    </StandalonePage>
  );
}
