/**
 * Maps the error code of an identity provider to our own message. The code is a URL parameter, so its text is never
 * shown: anyone can craft a link.
 */
export function refusalOf(code: string): string {
  return Object.hasOwn(refusals, code) ? (refusals[code] ?? otherwise) : otherwise;
}

const otherwise = 'The identity provider did not sign you in. Try again, or use your password.';
const unknown = 'No user has the email address of this account. Ask an owner to invite you.';
const unlinked =
  'This account cannot be linked to yours. Sign in with your password, or ask an owner.';
const stale = 'The sign-in has expired. Try again.';

const refusals: Readonly<Record<string, string>> = {
  access_denied: 'You denied access at the identity provider.',
  signup_disabled: unknown,
  unable_to_create_user: unknown,
  account_not_linked: unlinked,
  unable_to_link_account: unlinked,
  account_already_linked_to_different_user: unlinked,
  email_does_not_match: unlinked,
  email_not_found: 'This account has no email address, which Cueline requires.',
  email_not_verified: 'The identity provider has not verified the email address of this account.',
  state_not_found: stale,
  state_mismatch: stale,
  invalid_code: stale,
  please_restart_the_process: stale,
};
