import { Link, useLocation } from '@tanstack/react-router';
import { useMe } from '../data/workspace/me.ts';
import classes from './password-notice.module.css';

/** Pages that already contain the password form. */
const forms = ['/welcome', '/settings/account'];

/** Warns until the generated owner password is changed: anyone who can read the server's output knows it. */
export function PasswordNotice() {
  const { generatedPassword } = useMe();
  const { pathname } = useLocation();
  if (!generatedPassword || forms.includes(pathname)) return null;
  return (
    <p className={classes.notice}>
      You still use the generated password from the server's output.{' '}
      <Link to="/settings/account">Change password</Link>
    </p>
  );
}
