import { UnstyledButton } from '@mantine/core';
import { Link, useLocation } from '@tanstack/react-router';
import { isDismissed, useDismiss, useMe } from '../../data/workspace/me.ts';
import classes from './notice.module.css';

/** Contains the password form itself. */
const form = '/settings/account';

/** Warns until the generated owner password is changed: anyone who can read the server's output knows it. */
export function PasswordNotice() {
  const me = useMe();
  const dismiss = useDismiss();
  const { pathname } = useLocation();
  if (!me.generatedPassword || pathname === form || isDismissed(me, 'generatedPassword'))
    return null;
  return (
    <div className={classes.notice}>
      <span>
        You still use the generated password from the server's output.{' '}
        <Link to={form}>Change password</Link>
      </span>
      <UnstyledButton
        className={classes.later}
        disabled={dismiss.isPending}
        onClick={() => dismiss.mutate({ notice: 'generatedPassword', days: 7 })}
      >
        Remind me in a week
      </UnstyledButton>
    </div>
  );
}
