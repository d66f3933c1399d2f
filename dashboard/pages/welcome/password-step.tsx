import { Button, PasswordInput, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { cueline } from '../../data/client.ts';
import { FormProblem, fieldProblem } from '../../parts/form-problem.tsx';
import { Step } from './step.tsx';

export function PasswordStep() {
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  const change = useMutation({
    mutationFn: () =>
      cueline.session.changePassword({ currentPassword, newPassword, revokeOtherSessions: true }),
    onSuccess: () => {
      setCurrent('');
      setNew('');
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <Step
      title="Choose your own password"
      description="The first one was made up and printed in the server's output, where others may read it. All other sessions of yours end with the change."
      done={change.isSuccess}
    >
      <form onSubmit={submit}>
        <Stack gap="sm">
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            required
            withAsterisk={false}
            value={currentPassword}
            onChange={({ currentTarget }) => setCurrent(currentTarget.value)}
          />
          <PasswordInput
            label="New password"
            description="10 to 128 characters"
            autoComplete="new-password"
            required
            withAsterisk={false}
            minLength={10}
            maxLength={128}
            value={newPassword}
            error={fieldProblem(change.error, 'newPassword')}
            onChange={({ currentTarget }) => setNew(currentTarget.value)}
          />
          <FormProblem error={change.error} />
          <div>
            <Button type="submit" variant="default" loading={change.isPending}>
              Change the password
            </Button>
          </div>
        </Stack>
      </form>
    </Step>
  );
}
