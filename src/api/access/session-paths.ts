import { type TObject, Type } from 'typebox';
import { emailMax, nameMax, passwordMax, passwordMin, urlMax } from '../../contract/limits.ts';
import { patterns } from '../../contract/patterns.ts';
import { body } from '../../contract/shared.ts';

/**
 * What of better-auth is open, below `/api/auth`. It has far more to offer (sign-up, reset by mail, changing addresses,
 * tokens of others): a path that does not stand here does not exist, and a field that does not stand here is refused.
 */
export interface SessionPath {
  readonly method: 'GET' | 'POST';
  readonly body?: TObject;
  /** Set where passwords can be guessed at: failures are counted, and too many refused. */
  readonly guarded?: true;
}

const password = Type.String({ maxLength: passwordMax });
/** Where the browser goes afterwards: a page of ours. */
const page = Type.Optional(Type.String({ maxLength: urlMax, pattern: patterns.ownPage.source }));
const departure = body('GracefulShutdown', {
  provider: Type.String({ maxLength: nameMax }),
  callbackURL: page,
  errorCallbackURL: page,
});

export const sessionPaths: Readonly<Record<string, SessionPath>> = {
  '/sign-in/email': {
    method: 'POST',
    body: body('SignIn', {
      email: Type.String({ maxLength: emailMax }),
      password,
      rememberMe: Type.Optional(Type.Boolean()),
    }),
    guarded: true,
  },
  '/sign-in/social': { method: 'POST', body: departure },
  '/link-social': { method: 'POST', body: departure },
  '/unlink-account': {
    method: 'POST',
    body: body('Unlinking', { accountId: Type.String({ maxLength: nameMax }) }),
  },
  '/list-accounts': { method: 'GET' },
  '/get-session': { method: 'GET' },
  '/list-sessions': { method: 'GET' },
  '/sign-out': { method: 'POST' },
  '/revoke-session': {
    method: 'POST',
    body: body('Revocation', { token: Type.String({ maxLength: nameMax }) }),
  },
  '/revoke-sessions': { method: 'POST' },
  '/revoke-other-sessions': { method: 'POST' },
  '/change-password': {
    method: 'POST',
    body: body('PasswordChange', {
      currentPassword: password,
      newPassword: Type.String({ minLength: passwordMin, maxLength: passwordMax }),
      revokeOtherSessions: Type.Optional(Type.Boolean()),
    }),
    guarded: true,
  },
  // Where an identity provider sends the browser back to.
  '/callback/github': { method: 'GET' },
  '/callback/google': { method: 'GET' },
  '/callback/oidc': { method: 'GET' },
};

export function sessionPath(path: string): SessionPath | null {
  return Object.hasOwn(sessionPaths, path) ? (sessionPaths[path] ?? null) : null;
}
