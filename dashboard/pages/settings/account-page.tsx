import { Button, PasswordInput, SegmentedControl, useMantineColorScheme } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { cueline } from '../../data/client.ts';
import { useMe } from '../../data/me.ts';
import { Card, Facts } from '../../parts/card.tsx';
import { FormProblem, fieldProblem } from '../../parts/form-problem.tsx';
import { schemes } from '../../shell/account-menu.tsx';
import classes from './settings.module.css';

export function AccountPage() {
  const { user } = useMe();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <>
      <Card title="You">
        <div className={classes.facts}>
          <Facts
            facts={[
              ['Name', user.name || '–'],
              ['E-mail', user.email],
              ['Identifier', <code key="id">{user.userId}</code>],
            ]}
          />
        </div>
      </Card>
      <Card title="Appearance">
        <SegmentedControl
          aria-label="Appearance"
          data={schemes.map(({ scheme, label }) => ({ value: scheme, label }))}
          value={colorScheme}
          onChange={(scheme) => setColorScheme(scheme as typeof colorScheme)}
        />
      </Card>
      <Card title="Change your password">
        <PasswordForm />
      </Card>
    </>
  );
}

function PasswordForm() {
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
    <form className={classes.form} onSubmit={submit}>
      <p className={classes.soft}>All your other sessions end with the change.</p>
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
        <Button type="submit" loading={change.isPending}>
          Change the password
        </Button>{' '}
        {change.isSuccess && <span role="status">Changed.</span>}
      </div>
    </form>
  );
}
