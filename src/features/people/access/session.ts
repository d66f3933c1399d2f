import { setTimeout as delay } from 'node:timers/promises';
import { type Auth, type BetterAuthOptions, betterAuth } from 'better-auth';
import { isAPIError } from 'better-auth/api';
import { hashPassword as hash } from 'better-auth/crypto';
import { genericOAuth } from 'better-auth/plugins/generic-oauth';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  CallFailure,
  type CallFailureCode,
  invalidRequest,
  notFound,
} from '../../../core/failure.ts';
import { fromId } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { type HashPassword, hashToken } from '../../../core/people/token.ts';
import type { Db } from '../../../db/database.ts';
import { isUnavailable } from '../../../db/database-error.ts';
import { observeErrors } from '../../../db/observed-errors.ts';
import { passwordMax, passwordMin } from '../../../http/contract/contract-limits.ts';
import { type Endpoint, parsesBody } from '../../../http/contract/operation.ts';
import { workspaceHeader } from '../../../http/contract/shared.ts';
import { readBody } from '../../../http/request/body.ts';
import { callerAddress } from '../../../http/request/caller-address.ts';
import { unauthorized } from '../../../http/request/credential.ts';
import { checkSameOrigin, isSameOrigin, originOf } from '../../../http/request/same-origin.ts';
import { readFields } from '../../../http/request/validate.ts';
import { identityProviders } from '../contract/members-contract.ts';
import { writeUserAudit } from '../statements/audit-statements.ts';
import { findSessionCaller } from '../statements/callers.ts';
import { findUserByEmail } from '../statements/users.ts';
import { type HashingLimit, limitHashing } from './hashing-limit.ts';
import {
  addressHeader,
  basePath,
  baseURLOf,
  passwordChangePath,
  resetPath,
  resetRequestPath,
  type SessionDeps,
  sessionOptions,
  signInPath,
} from './session-options.ts';
import { sessionPath } from './session-paths.ts';
import { throttleAttempts } from './sign-in-guard.ts';

/** Sessions, implemented by better-auth. Only the files `session*.ts` use it. */

export type { SessionDeps };

export interface Sessions {
  /** The configured identity providers. */
  readonly identityProviders: readonly (keyof SessionDeps['signIn'])[];
  /** Whether passwords can be reset by e-mail. */
  readonly passwordReset: boolean;
  /** Serves `/api/auth/*`. */
  mount(app: FastifyInstance): void;
  /**
   * The user of the session cookie in a workspace: the one in the header, or in the `workspace` parameter of endpoints
   * that have it, else the first that the user owns, else the first that the user belongs to. Null without a session.
   */
  caller(request: FastifyRequest, endpoint?: Pick<Endpoint, 'query'>): Promise<Caller | null>;
  /** The id of the signed-in user, member or not; null without a session, and for requests from another origin. */
  user(request: FastifyRequest): Promise<string | null>;
  /** Hashes a password within the shared limit on concurrent hashes. */
  readonly hashPassword: HashPassword;
  checkSameOrigin(request: FastifyRequest): void;
  /** The absolute URL of a page of this server. */
  link(request: FastifyRequest, path: string): string;
}

/** Hashes a password in better-auth's format. Throws if it is too short or too long. */
export async function hashPassword(password: string): Promise<string> {
  if (password.length < passwordMin || password.length > passwordMax) {
    throw invalidRequest(`A password has ${passwordMin} to ${passwordMax} characters.`);
  }
  return hash(password);
}

export function createSessions(deps: SessionDeps): Sessions {
  const { db, publicUrl, signIn } = deps;
  const options = sessionOptions(deps);
  const auth = betterAuth(options);
  const cookies = new SessionCookies(auth);
  const hashing = limitHashing(hashesMax);
  const authPaths = createAuthPaths(deps, options, auth, { cookies, hashing });

  return {
    identityProviders: identityProviders.filter((one) => signIn[one] !== null),
    passwordReset: deps.sendMail !== null,
    mount(app) {
      app.addHook('onSend', async (request, reply) => cookies.setRenewed(request, reply));
      app.all(`${basePath}/*`, authPaths);
    },
    async caller(request, endpoint) {
      const wireId =
        request.headers[workspaceHeader.toLowerCase()] ?? workspaceParameter(request, endpoint);
      const workspaceId = typeof wireId === 'string' ? fromId('workspace', wireId) : null;
      if (wireId !== undefined && workspaceId === null) return null;
      const userId = await cookies.readUserId(request);
      return userId === null ? null : findSessionCaller(db, userId, workspaceId);
    },
    async user(request) {
      return isSameOrigin(request, publicUrl) ? cookies.readUserId(request) : null;
    },
    hashPassword: (password) => hashing(() => hashPassword(password)),
    checkSameOrigin: (request) => checkSameOrigin(request, publicUrl),
    link: (request, path) => (publicUrl ?? originOf(request)) + path,
  };
}

/** Reads session cookies. Reading a session may renew it; its new cookies are set on the response. */
class SessionCookies {
  readonly #auth: Auth;
  readonly #renewed = new WeakMap<FastifyRequest, string[]>();

  constructor(auth: Auth) {
    this.#auth = auth;
  }

  async readUserId(request: FastifyRequest): Promise<string | null> {
    const { cookie } = request.headers;
    if (cookie === undefined) return null;
    const input = { headers: new Headers({ cookie }), returnHeaders: true } as const;
    try {
      const read = () => this.#auth.api.getSession(input);
      const { headers, response } = await withDatabaseErrors(read);
      this.#renewed.set(request, headers.getSetCookie());
      return response?.user.id ?? null;
    } catch (error) {
      // The session ended during its renewal.
      if (isAPIError(error) && error.statusCode === 401) return null;
      throw error;
    }
  }

  setRenewed(request: FastifyRequest, reply: FastifyReply): void {
    for (const cookie of this.#renewed.get(request) ?? []) reply.header('set-cookie', cookie);
  }

  /** For responses whose cookies better-auth sets itself. */
  discardRenewed(request: FastifyRequest): void {
    this.#renewed.delete(request);
  }
}

/** The handler of `/api/auth/*`: checks the path, origin and body, then calls better-auth. */
function createAuthPaths(
  deps: SessionDeps,
  options: BetterAuthOptions,
  auth: Auth,
  { cookies, hashing }: { cookies: SessionCookies; hashing: HashingLimit },
) {
  const { db, publicUrl } = deps;
  const authWithIssuer = createIssuerAuth(deps, options);

  async function throttled(
    request: FastifyRequest,
    path: string,
    body: Fields | undefined,
    handle: () => Promise<Response>,
  ): Promise<Response> {
    const account = accountOf(path, body) ?? (await cookies.readUserId(request));
    // Without an account nothing is guessed, so the attempt must not count towards the limit of the network.
    if (account === null) throw unauthorized();
    cookies.discardRenewed(request);
    const ip = callerAddress(request) ?? '';
    const { response } = await throttleAttempts(db, { ip, path, account }, async () => {
      const answer = await hashing(handle);
      // Each request may send a mail, so each one counts.
      return { ok: answer.ok && path !== resetRequestPath, response: answer };
    });
    if (path === signInPath && !response.ok) await auditRefusal(db, account, ip);
    if (path === passwordChangePath && response.ok) await auditPasswordChange(db, account);
    return response;
  }

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const path = (request.url.split('?')[0] ?? '').slice(basePath.length);
    const endpoint = sessionPath(path);
    if (!endpoint || (endpoint.needsMail && deps.sendMail === null)) throw notFound('path');
    if (request.method !== endpoint.method) {
      reply.header('allow', endpoint.method);
      throw new CallFailure('METHOD_NOT_ALLOWED', `This path supports ${endpoint.method}.`);
    }
    if (isFromBrowser(request)) checkSameOrigin(request, publicUrl);
    const body = parsesBody(endpoint)
      ? { ...readFields<Fields>(await readBody(request), endpoint), ...endpoint.fixed }
      : undefined;
    const usesIssuer = body?.provider === 'oidc' || path === '/callback/oidc';
    const { handler } = usesIssuer ? await authWithIssuer() : auth;
    const handle = () => handler(webRequest(request, baseURLOf(publicUrl), body));
    const response = await withDatabaseErrors(() =>
      endpoint.throttled ? throttled(request, path, body, handle) : handle(),
    );
    for (const cookie of response.headers.getSetCookie()) reply.header('set-cookie', cookie);
    if (response.status >= 400) throw await readFailure(response);
    if (response.status >= 300) {
      return reply.redirect(response.headers.get('location') ?? '/', response.status);
    }
    return reply.type('application/json; charset=utf-8').send(await response.text());
  };
}

/** Whose attempts are counted: the address, or the token of a reset. Null for the signed-in user. */
function accountOf(path: string, body: Fields | undefined): string | null {
  if (path === resetPath) return hashToken(String(body?.token)).toString('base64url');
  return typeof body?.email === 'string' ? body.email.toLowerCase() : null;
}

/** An unknown address belongs to no workspace. The limit on attempts also bounds these lines. */
async function auditRefusal(db: Db, email: string, ip: string): Promise<void> {
  const user = await findUserByEmail(db, email);
  if (!user) return;
  const line = { action: 'session.refuse', personal: { ipAddress: ip || null } } as const;
  await writeUserAudit(db, user, { userId: null, apiKeyId: null }, line);
}

async function auditPasswordChange(db: Db, userId: string): Promise<void> {
  await writeUserAudit(
    db,
    { id: userId },
    { userId, apiKeyId: null },
    { action: 'password.change' },
  );
}

/**
 * Runs work of better-auth. If the database was unavailable, throws its error: better-auth reports it as 500 or 401, or
 * only logs it.
 */
function withDatabaseErrors<T>(work: () => Promise<T>): Promise<T> {
  return observeErrors(async (lastError) => {
    const [result] = await Promise.allSettled([work()]);
    if (isUnavailable(lastError())) throw lastError();
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

/** Converts an error response of better-auth. */
async function readFailure(response: Response): Promise<Error> {
  const code = failureCodes[response.status];
  const { message } = (await response.json().catch(() => ({}))) as { message?: string };
  if (code) return new CallFailure(code, message ?? 'The request was rejected.');
  return new Error(`better-auth responded ${response.status}: ${message}`);
}

/** The workspace of endpoints that browsers open as a link, which sends no header. */
function workspaceParameter(
  { query }: FastifyRequest,
  endpoint: Pick<Endpoint, 'query'> | undefined,
): unknown {
  if (!endpoint?.query || !('workspace' in endpoint.query.properties)) return undefined;
  return (query as { workspace?: unknown }).workspace;
}

/** Each hash takes 32 MiB and one of the four threads that Node also uses for DNS. */
const hashesMax = { concurrent: 2, waiting: 100 };

const failureCodes: Record<number, CallFailureCode> = {
  400: 'INVALID_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  422: 'INVALID_REQUEST',
};

/** A program may sign in without an origin. A browser may be tricked into it by a foreign page. */
function isFromBrowser({ headers }: FastifyRequest): boolean {
  return Boolean(headers.cookie ?? headers.origin ?? headers['sec-fetch-site']);
}

type Fields = Record<string, unknown>;

const userAgentMax = 500;

/** A web request with only the headers that better-auth needs. */
function webRequest(request: FastifyRequest, base: string, body: unknown): Request {
  const { cookie, 'user-agent': userAgent } = request.headers;
  const headers = new Headers({ [addressHeader]: callerAddress(request) ?? '' });
  if (cookie !== undefined) headers.set('cookie', cookie);
  if (userAgent !== undefined) headers.set('user-agent', userAgent.slice(0, userAgentMax));
  if (body === undefined)
    return new Request(base + request.url, { method: request.method, headers });
  headers.set('content-type', 'application/json');
  const text = JSON.stringify(body);
  return new Request(base + request.url, { method: request.method, headers, body: text });
}

const discoveryTimeoutMs = 5_000;

/**
 * better-auth with the configured OpenID Connect issuer. better-auth fetches the issuer's metadata before it handles its
 * first request. A second instance, created at first use, keeps an unavailable issuer from blocking other sign-ins.
 */
function createIssuerAuth({ signIn: { oidc } }: SessionDeps, options: BetterAuthOptions) {
  let pending: Promise<Auth | null> | null = null;

  async function create(): Promise<Auth | null> {
    if (!oidc) return null;
    const { issuer, clientId, clientSecret } = oidc;
    const provider = {
      providerId: 'oidc',
      clientId,
      clientSecret,
      requireIdTokenVerification: true,
      discoveryUrl: `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
      scopes: ['openid', 'email', 'profile'],
    };
    const plugins: BetterAuthOptions['plugins'] = [genericOAuth({ config: [provider] })];
    const auth = betterAuth<BetterAuthOptions>({ ...options, plugins });
    const { socialProviders } = await auth.$context;
    if (socialProviders.some(({ id }) => id === 'oidc')) return auth;
    pending = null;
    return null;
  }

  return async (): Promise<Auth> => {
    if (!oidc) throw notFound('provider');
    pending ??= create();
    const auth = await Promise.race([pending, delay(discoveryTimeoutMs, null, { ref: false })]);
    if (auth) return auth;
    throw new CallFailure('UNAVAILABLE', 'The identity provider does not respond. Try again.');
  };
}
