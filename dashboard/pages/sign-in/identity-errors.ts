/**
 * Why an identity provider sent the browser back, in our words: the code stands in the address, where anyone can write
 * what they like for someone else to read.
 */
export function refusalOf(code: string): string {
  return Object.hasOwn(refusals, code) ? (refusals[code] ?? otherwise) : otherwise;
}

const otherwise = 'The identity provider did not sign you in. Try again, or use your password.';
const unknown = 'Nobody here has the e-mail address of that account. Ask an owner to invite you.';
const unlinked =
  'That account cannot be linked with yours here. Sign in with your password, or ask an owner.';
const stale = 'The way back from the identity provider took too long. Try again.';

const refusals: Readonly<Record<string, string>> = {
  access_denied: 'You did not let Cueline know who you are at the identity provider.',
  signup_disabled: unknown,
  unable_to_create_user: unknown,
  account_not_linked: unlinked,
  unable_to_link_account: unlinked,
  account_already_linked_to_different_user: unlinked,
  email_does_not_match: unlinked,
  email_not_found: 'That account has no e-mail address, and here people are known by theirs.',
  email_not_verified: 'The identity provider has not verified the e-mail address of that account.',
  state_not_found: stale,
  state_mismatch: stale,
  invalid_code: stale,
  please_restart_the_process: stale,
};
