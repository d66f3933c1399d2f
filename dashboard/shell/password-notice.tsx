import { Link, useLocation } from '@tanstack/react-router';
import { useMe } from '../data/workspace/me.ts';
import classes from './password-notice.module.css';

/** Where the form stands already. */
const forms = ['/welcome', '/settings/account'];

/** A password that was printed is known to whoever reads the server's output, until another is chosen. */
export function PasswordNotice() {
  const { generatedPassword } = useMe();
  const { pathname } = useLocation();
  if (!generatedPassword || forms.includes(pathname)) return null;
  return (
    <p className={classes.notice}>
      Your password is the one that was printed in the server's output.{' '}
      <Link to="/settings/account">Choose your own</Link>
    </p>
  );
}
