import { Button, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { NewPasswordField } from '../../../components/fields/new-password-field.tsx';
import { PasswordField } from '../../../components/fields/password-field.tsx';
import { FormError, fieldError } from '../../../components/states/form-error.tsx';
import { cueline } from '../../../data/client/client.ts';
import { useSingleFlight } from '../../../data/client/use-single-flight.ts';
import { meQuery } from '../../../data/workspace/me.ts';

/** Changes the signed-in user's password. This ends their other sessions. */
export function PasswordForm() {
  const queries = useQueryClient();
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  const change = useSingleFlight({
    meta: { saved: 'Password changed' },
    mutationFn: () => cueline.session.changePassword({ currentPassword, newPassword }),
    onSuccess: () => {
      setCurrent('');
      setNew('');
      void queries.invalidateQueries(meQuery);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <PasswordField label="Current password" value={currentPassword} onChange={setCurrent} />
        <NewPasswordField
          label="New password"
          value={newPassword}
          error={fieldError(change.error, 'newPassword')}
          onChange={setNew}
        />
        <FormError error={change.error} />
        <div>
          <Button type="submit" variant="default" loading={change.isPending}>
            Change password
          </Button>
        </div>
      </Stack>
    </form>
  );
}
