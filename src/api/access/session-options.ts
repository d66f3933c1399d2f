import { hkdfSync } from 'node:crypto';
import type { BetterAuthOptions } from 'better-auth';
import type { FastifyBaseLogger } from 'fastify';
import { passwordMax, passwordMin } from '../../contract/limits.ts';
import { uuid7 } from '../../core/id.ts';
import type { Db } from '../../store/connection/database.ts';
import { isInvited } from '../../store/people/invitations.ts';
import { trimSessions } from '../../store/people/users.ts';

/** How better-auth is set up: on our tables, with our ids, and with as little of it as we need. */

export interface SessionDeps {
  readonly db: Db;
  /** `CUELINE_SECRET`; cookies are signed with a key derived from it. */
  readonly secret: string;
  /** Where browsers find the server; null where that is wherever they ask. */
  readonly publicUrl: string | null;
  readonly signIn: SignInProviders;
  readonly logger: FastifyBaseLogger;
}

/** Sign-in with others' accounts, as far as it is configured. */
export interface SignInProviders {
  readonly github: Client | null;
  readonly google: Client | null;
  /** Any OpenID Connect issuer; the provider is called `oidc`. */
  readonly oidc: (Client & { readonly issuer: string }) | null;
}

interface Client {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Where better-auth reads the address of a caller. It is given no header of that name that was sent. */
export const addressHeader = 'x-cueline-address';
export const basePath = '/api/auth';

const daySeconds = 86_400;

export function sessionOptions(parts: SessionDeps): BetterAuthOptions {
  const { db, publicUrl, logger } = parts;
  const { github, google } = parts.signIn;
  return {
    // Without a public URL no identity provider is allowed, and nothing else shows the base.
    baseURL: publicUrl ?? 'http://cueline.invalid',
    basePath,
    // As a list: a single secret would give way to what the environment names for better-auth.
    secrets: [{ version: 1, value: signingKey(parts.secret) }],
    database: { db: db.withoutPlugins(), type: 'postgres', transaction: true },
    ...tables,
    user: { ...tables.user, validateUserInfo: (incoming) => refuseStranger(db, incoming) },
    session: {
      ...tables.session,
      expiresIn: 30 * daySeconds,
      updateAge: daySeconds,
      // A session signed in long ago may still be shown and ended.
      freshAge: 0,
    },
    account: {
      ...tables.account,
      storeStateStrategy: 'cookie',
      updateAccountOnSignIn: false,
      // Linking at sign-in needs an address that both sides have verified; by being signed in on both it needs no more.
      accountLinking: { enabled: true, trustedProviders: [] },
    },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: passwordMin,
      maxPasswordLength: passwordMax,
    },
    socialProviders: { ...(github && { github }), ...(google && { google }) },
    databaseHooks: {
      // Afterwards, so that of many who sign in at once the last finds all of them.
      session: { create: { after: (session) => trimSessions(db, session.userId) } },
      account: { create: { before: withoutTokens }, update: { before: withoutTokens } },
    },
    onAPIError: { errorURL: `${publicUrl ?? ''}/sign-in` },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: {
      level: 'error',
      log: (_level, message, ...details) => note(logger, message, details),
    },
    advanced: {
      cookiePrefix: 'cueline',
      useSecureCookies: publicUrl?.startsWith('https:') ?? false,
      // Origins are checked before, by one rule for all writes with a cookie; where a browser is sent, here.
      disableCSRFCheck: true,
      disableOriginCheck: false,
      ipAddress: { ipAddressHeaders: [addressHeader] },
      // It asks in no transaction, so the clock is ours: these ids need only be unique.
      database: { generateId: () => uuid7(Date.now()), validateSchema: false },
    },
  };
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

/** No open registration: an account is made for an address that is invited, and only the provider can say whose it is. */
async function refuseStranger(db: Db, { user, source }: Incoming) {
  if (source.action === 'sign-in') return undefined;
  if (!user.emailVerified) return { error: 'email_not_verified' };
  if (source.action === 'create-user' && !(await isInvited(db, (user.email ?? '').toLowerCase()))) {
    return { error: 'not_invited' };
  }
  return undefined;
}

/** We ask a provider who somebody is, once; what else its tokens are good for is not ours to keep. */
async function withoutTokens() {
  return { data: { accessToken: null, refreshToken: null, idToken: null } };
}

/**
 * Mostly of people who mistyped and of providers that refused them; what is a fault of ours is logged where it is
 * answered.
 */
function note(logger: FastifyBaseLogger, message: string, details: readonly unknown[]): void {
  const err = details.find((one) => one instanceof Error);
  logger.info({ ...(err && { err }) }, `sign-in: ${message}`);
}
