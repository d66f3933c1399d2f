import { type TObject, Type } from 'typebox';
import {
  emailMax,
  nameMax,
  passwordMax,
  passwordMin,
  urlMax,
} from '../../../http/contract/contract-limits.ts';
import { patterns } from '../../../http/contract/patterns.ts';
import { body } from '../../../http/contract/shared.ts';
import { passwordChangePath, resetPath, resetRequestPath, signInPath } from './session-options.ts';

/**
 * The paths of better-auth that are exposed below `/api/auth`. better-auth has many more (sign-up, changing
 * addresses, provider tokens): other paths return 404, and other fields are rejected.
 */
export interface SessionPath {
  readonly method: 'GET' | 'POST';
  readonly body?: TObject;
  /** Fields that better-auth gets whatever the request says. */
  readonly fixed?: Readonly<Record<string, unknown>>;
  /** Limits failed attempts, because the path verifies a password. */
  readonly throttled?: true;
  /** Only where the server sends e-mail. */
  readonly needsMail?: true;
}

const password = Type.String({ maxLength: passwordMax });
/** The page of this server that the browser visits afterwards. */
const page = Type.Optional(Type.String({ maxLength: urlMax, pattern: patterns.ownPage.source }));
const providerSignIn = body('ProviderSignIn', {
  provider: Type.String({ maxLength: nameMax }),
  callbackURL: page,
  errorCallbackURL: page,
});

export const sessionPaths: Readonly<Record<string, SessionPath>> = {
  [signInPath]: {
    method: 'POST',
    body: body('SignIn', {
      email: Type.String({ maxLength: emailMax }),
      password,
      rememberMe: Type.Optional(Type.Boolean()),
    }),
    throttled: true,
  },
  '/sign-in/social': { method: 'POST', body: providerSignIn },
  '/link-social': { method: 'POST', body: providerSignIn },
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
  [passwordChangePath]: {
    method: 'POST',
    body: body('PasswordChange', {
      currentPassword: password,
      newPassword: Type.String({ minLength: passwordMin, maxLength: passwordMax }),
      // Accepted, because clients of better-auth send it.
      revokeOtherSessions: Type.Optional(Type.Boolean()),
    }),
    fixed: { revokeOtherSessions: true },
    throttled: true,
  },
  [resetRequestPath]: {
    method: 'POST',
    body: body('PasswordResetRequest', { email: Type.String({ maxLength: emailMax }) }),
    throttled: true,
    needsMail: true,
  },
  [resetPath]: {
    method: 'POST',
    body: body('PasswordReset', {
      token: Type.String({ maxLength: nameMax }),
      newPassword: Type.String({ minLength: passwordMin, maxLength: passwordMax }),
    }),
    throttled: true,
    needsMail: true,
  },
  // Identity providers redirect the browser to these.
  '/callback/github': { method: 'GET' },
  '/callback/google': { method: 'GET' },
  '/callback/oidc': { method: 'GET' },
};

export function sessionPath(path: string): SessionPath | null {
  return Object.hasOwn(sessionPaths, path) ? (sessionPaths[path] ?? null) : null;
}
