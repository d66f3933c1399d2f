import { Button, Group, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { Me } from '../../../src/client/index.ts';
import { PasswordField } from '../../components/fields/password-field.tsx';
import { FormError } from '../../components/states/form-error.tsx';
import { routerPath, serverPath } from '../../data/client/base-path.ts';
import { cueline } from '../../data/client/client.ts';
import { Dialog } from '../../kit/dialog.tsx';

/** Signs in again over the current page, so that unsaved input survives an expired session. */
export default function SessionExpiredDialog(props: {
  readonly me: Me;
  readonly onDone: () => void;
}) {
  const { email } = props.me.user;
  const [password, setPassword] = useState('');
  const signIn = useMutation({
    mutationKey: ['sign-in'],
    mutationFn: () => cueline.session.signIn({ email, password }),
    onSuccess: props.onDone,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate();
  };
  const leave = () => {
    const from = routerPath(location.pathname) + location.search;
    location.assign(serverPath(`/sign-in?${new URLSearchParams({ from })}`));
  };
  return (
    <Dialog title="Your session has ended" locked onClose={leave}>
      <form onSubmit={submit}>
        <Stack gap="md">
          <p>
            Sign in again as {email} to continue. If you leave this page, unsaved changes are lost,
            except for drafts: this window keeps them until another user signs in.
          </p>
          {/* For password managers. */}
          <input type="hidden" name="email" autoComplete="username" value={email} />
          <PasswordField value={password} onChange={setPassword} first />
          <FormError error={signIn.error} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" disabled={signIn.isPending} onClick={leave}>
              Go to sign-in page
            </Button>
            <Button type="submit" loading={signIn.isPending}>
              Sign in
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
