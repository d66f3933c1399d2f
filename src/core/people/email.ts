/**
 * Whether a text is an address that can sign in. better-auth refuses any other at sign-in (it asks zod, whose pattern
 * this is), so no account may be made or invited with one.
 */
export function isEmail(text: string): boolean {
  return pattern.test(text);
}

const pattern =
  /^(?!\.)(?!.*\.\.)[A-Za-z0-9_'+\-.]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+[A-Za-z]{2,}$/;
