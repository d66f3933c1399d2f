import { hkdfSync } from 'node:crypto';
import type { BetterAuthOptions } from 'better-auth';
import type { FastifyBaseLogger } from 'fastify';
import { uuid7 } from '../../../core/id.ts';
import { passwordResetMail, resetMailsMax, type SendMail } from '../../../core/people/mail.ts';
import { cleanName } from '../../../core/people/name.ts';
import { basePathOf } from '../../../core/public-url.ts';
import type { Database, Db } from '../../../db/database.ts';
import { passwordMax, passwordMin } from '../../../http/contract/contract-limits.ts';
import { writeUserAudit } from '../statements/audit-statements.ts';
import { isInvited } from '../statements/invitations.ts';
import { countAttempt } from '../statements/sign-in-attempts.ts';
import { hasPassword, trimSessions } from '../statements/users.ts';

/** Configures better-auth: our tables, our ids, and only the features that Cueline uses. */

export interface SessionDeps {
  readonly db: Database;
  /** `CUELINE_SECRET`; cookies are signed with a key derived from it. */
  readonly secret: string;
  /** The URL of the server in browsers; null: the URL of each request. */
  readonly publicUrl: string | null;
  readonly signIn: SignInProviders;
  /** Null: there is no reset of passwords by e-mail. */
  readonly sendMail: SendMail | null;
  readonly logger: FastifyBaseLogger;
}

/** The configured identity providers. */
export interface SignInProviders {
  readonly github: Client | null;
  readonly google: Client | null;
  /** Any OpenID Connect issuer; the provider's name is `oidc`. */
  readonly oidc: (Client & { readonly issuer: string }) | null;
}

interface Client {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The header from which better-auth reads the caller's address. A header of this name in a request is dropped. */
export const addressHeader = 'x-cueline-address';
export const basePath = '/api/auth';

export const signInPath = '/sign-in/email';
export const passwordChangePath = '/change-password';
export const resetRequestPath = '/request-password-reset';
export const resetPath = '/reset-password';

const daySeconds = 86_400;

export function sessionOptions(deps: SessionDeps): BetterAuthOptions {
  const { db, publicUrl, logger } = deps;
  const { github, google } = deps.signIn;
  return {
    // With its whole path, because better-auth appends `basePath` only to a URL without one.
    baseURL: baseURLOf(publicUrl) + basePath,
    basePath,
    // A list, because better-auth's environment variable overrides a single secret.
    secrets: [{ version: 1, value: signingKey(deps.secret) }],
    database: db.observedPool(),
    ...tables,
    user: { ...tables.user, validateUserInfo: (incoming) => rejectUninvited(db, incoming) },
    session: {
      ...tables.session,
      expiresIn: 30 * daySeconds,
      updateAge: daySeconds,
      // Sessions of any age may be listed and revoked.
      freshAge: 0,
    },
    account: {
      ...tables.account,
      storeStateStrategy: 'cookie',
      updateAccountOnSignIn: false,
      // Linking at sign-in requires an address that both sides verified. A signed-in user may link any account.
      accountLinking: { enabled: true, trustedProviders: [] },
    },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: passwordMin,
      maxPasswordLength: passwordMax,
      ...passwordReset(deps),
    },
    // A copy of the database must not allow anybody to reset a password.
    verification: { ...tables.verification, storeIdentifier: 'hashed' },
    socialProviders: { ...(github && { github }), ...(google && { google }) },
    databaseHooks: {
      user: { create: { before: withCleanName } },
      session: { create: { after: (session, context) => afterSignIn(db, session, context) } },
      account: { create: { before: withoutTokens }, update: { before: withoutTokens } },
    },
    onAPIError: { errorURL: `${publicUrl ?? ''}/sign-in` },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: {
      level: 'error',
      log: (_level, message, ...details) => logSignInFailure(logger, message, details),
    },
    advanced: {
      ...cookieOptions(publicUrl),
      // `checkSameOrigin` checks the origin of all writes; better-auth checks redirect targets.
      disableCSRFCheck: true,
      disableOriginCheck: false,
      ipAddress: { ipAddressHeaders: [addressHeader] },
      // better-auth requests ids outside a transaction. The process clock suffices, because they need only be unique.
      database: { generateId: () => uuid7(Date.now()), validateSchema: false },
    },
  };
}

const resetSeconds = 3_600;

/** Sends links to those who have a password. Other sessions end with the reset. */
function passwordReset({
  db,
  logger,
  publicUrl,
  sendMail,
}: SessionDeps): Partial<NonNullable<BetterAuthOptions['emailAndPassword']>> {
  if (sendMail === null || publicUrl === null) return {};
  const send = async (user: { readonly id: string; readonly email: string }, token: string) => {
    if (!(await hasPassword(db, user.id))) return;
    const { count } = await countAttempt(db, `everywhere|mail|${user.email}`, resetSeconds * 1_000);
    if (count > resetMailsMax) return;
    await sendMail(passwordResetMail(user.email, `${publicUrl}/sign-in/reset/${token}`));
  };
  return {
    resetPasswordTokenExpiresIn: resetSeconds,
    revokeSessionsOnPasswordReset: true,
    // Not awaited: the time of the response must not tell whether the address has an account.
    async sendResetPassword({ user, token }) {
      void send(user, token).catch((err) => logger.warn({ err }, 'password reset mail failed'));
    },
    async onPasswordReset({ user }) {
      const actor = { userId: user.id, apiKeyId: null };
      await writeUserAudit(db, user, actor, { action: 'password.reset' });
    },
  };
}

/**
 * The prefix and the path of all cookies. Browsers accept a `__Host-` cookie only for the whole host and from this host
 * itself, and a `__Secure-` cookie only over https: another host of the domain cannot replace it.
 */
export function cookieOptions(
  publicUrl: string | null,
): Pick<
  NonNullable<BetterAuthOptions['advanced']>,
  'cookiePrefix' | 'useSecureCookies' | 'defaultCookieAttributes'
> {
  const path = basePathOf(publicUrl) || '/';
  const secure = new URL(baseURLOf(publicUrl)).protocol === 'https:';
  const prefix = path === '/' ? '__Host-' : '__Secure-';
  return {
    cookiePrefix: secure ? `${prefix}cueline` : 'cueline',
    // better-auth would add `__Secure-`.
    useSecureCookies: false,
    defaultCookieAttributes: { secure, path },
  };
}

/** Only identity providers use it, and they require a public URL. */
export function baseURLOf(publicUrl: string | null): string {
  return publicUrl ?? 'http://cueline.invalid';
}

const created = { createdAt: 'created_at', updatedAt: 'updated_at' };
const tables = {
  user: { modelName: 'users', fields: { ...created, emailVerified: 'email_verified' } },
  session: {
    modelName: 'sessions',
    fields: {
      ...created,
      userId: 'user_id',
      expiresAt: 'expires_at',
      ipAddress: 'ip_address',
      userAgent: 'user_agent',
    },
  },
  account: {
    modelName: 'accounts',
    fields: {
      ...created,
      userId: 'user_id',
      accountId: 'account_id',
      providerId: 'provider_id',
      accessToken: 'access_token',
      refreshToken: 'refresh_token',
      idToken: 'id_token',
      accessTokenExpiresAt: 'access_token_expires_at',
      refreshTokenExpiresAt: 'refresh_token_expires_at',
    },
  },
  verification: { modelName: 'verifications', fields: { ...created, expiresAt: 'expires_at' } },
} satisfies Pick<BetterAuthOptions, 'user' | 'session' | 'account' | 'verification'>;

function signingKey(secret: string): string {
  return Buffer.from(hkdfSync('sha256', secret, 'cueline', 'sessions', 32)).toString('base64url');
}

type Incoming = Parameters<
  NonNullable<NonNullable<BetterAuthOptions['user']>['validateUserInfo']>
>[0];

/** Rejects open registration: an account requires an invitation, and an address that the provider verified. */
async function rejectUninvited(db: Db, { user, source }: Incoming) {
  if (source.action === 'sign-in') return undefined;
  if (!user.emailVerified) return { error: 'email_not_verified' };
  if (source.action === 'create-user' && !(await isInvited(db, (user.email ?? '').toLowerCase()))) {
    return { error: 'not_invited' };
  }
  return undefined;
}

/** The name comes from the identity provider; its user cannot change it here. */
async function withCleanName(user: { readonly name: string; readonly email: string }) {
  return { data: { name: cleanName(user.name, user.email) } };
}

async function afterSignIn(
  db: Db,
  session: { readonly userId: string; readonly ipAddress?: string | null },
  context: { readonly path?: string } | null,
): Promise<void> {
  const { userId, ipAddress = null } = session;
  // After the insert, so that the last of several concurrent sign-ins sees all of them.
  await trimSessions(db, userId);
  // Changing the password replaces the session.
  if (context?.path === passwordChangePath) return;
  const actor = { userId, apiKeyId: null };
  const line = { action: 'session.create', personal: { ipAddress } } as const;
  await writeUserAudit(db, { id: userId }, actor, line);
}

/** Drops the provider's tokens: they identify the user once and are not used again. */
async function withoutTokens() {
  return { data: { accessToken: null, refreshToken: null, idToken: null } };
}

/** Logs a failed sign-in: mostly wrong passwords and rejections by providers. Unexpected errors are logged with the response. */
function logSignInFailure(
  logger: FastifyBaseLogger,
  message: string,
  details: readonly unknown[],
): void {
  const err = details.find((one) => one instanceof Error);
  logger.info({ reason: message, ...(err && { err }) }, 'sign-in failed');
}
