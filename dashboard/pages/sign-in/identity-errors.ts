/**
 * Maps the error code of an identity provider to our own message. The code is a URL parameter, so its text is never
 * shown: anyone can craft a link.
 */
export function identityErrorMessage(code: string): string {
  return Object.hasOwn(messages, code) ? (messages[code] ?? fallback) : fallback;
}

const fallback = 'The identity provider did not sign you in. Try again, or use your password.';
const notRegistered = 'No user has the email address of this account. Ask an owner to invite you.';
const unlinked =
  'This account cannot be linked to yours. Sign in with your password, or ask an owner.';
const expired = 'The sign-in has expired. Try again.';

const messages: Readonly<Record<string, string>> = {
  access_denied: 'You denied access at the identity provider.',
  signup_disabled: notRegistered,
  unable_to_create_user: notRegistered,
  account_not_linked: unlinked,
  unable_to_link_account: unlinked,
  account_already_linked_to_different_user: unlinked,
  email_does_not_match: unlinked,
  email_not_found: 'This account has no email address, which Cueline requires.',
  email_not_verified: 'The identity provider has not verified the email address of this account.',
  state_not_found: expired,
  state_mismatch: expired,
  invalid_code: expired,
  please_restart_the_process: expired,
};
