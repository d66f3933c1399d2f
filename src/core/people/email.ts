/**
 * Whether a text is an e-mail address that can sign in. better-auth rejects any other at sign-in (this is zod's
 * pattern), so no account may be created or invited with one.
 */
export function isEmail(text: string): boolean {
  return pattern.test(text);
}

const pattern =
  /^(?!\.)(?!.*\.\.)[A-Za-z0-9_'+\-.]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+[A-Za-z]{2,}$/;
