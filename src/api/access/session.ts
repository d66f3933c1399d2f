import { setTimeout as delay } from 'node:timers/promises';
import { type Auth, type BetterAuthOptions, betterAuth } from 'better-auth';
import { isAPIError } from 'better-auth/api';
import { hashPassword as hash } from 'better-auth/crypto';
import { genericOAuth } from 'better-auth/plugins/generic-oauth';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Endpoint, parsesBody } from '../../contract/endpoint.ts';
import { passwordMax, passwordMin } from '../../contract/limits.ts';
import { workspaceHeader } from '../../contract/shared.ts';
import { identityProviders } from '../../contract/workspace/members.ts';
import type { Caller } from '../../core/execution/caller.ts';
import { CallFailure, type CallFailureCode } from '../../core/failure.ts';
import { fromId } from '../../core/id.ts';
import type { HashPassword } from '../../core/people/token.ts';
import { findSessionCaller } from '../../store/admission/callers.ts';
import { readClock } from '../../store/connection/clock.ts';
import { readBody } from '../http/body.ts';
import { callerAddress } from '../http/caller-address.ts';
import { checkSameOrigin, isSameOrigin, originOf } from '../http/same-origin.ts';
import { fieldsOf } from '../http/validate.ts';
import { unauthorized } from './authenticate.ts';
import { limitHashing } from './hashing-limit.ts';
import { addressHeader, basePath, type SessionDeps, sessionOptions } from './session-options.ts';
import { sessionPath } from './session-paths.ts';
import { guard } from './sign-in-guard.ts';

/** Signing in, and who is signed in. better-auth does it; only the files `session*.ts` know of it. */

export type { SessionDeps };

export interface Sessions {
  /** Whose accounts people can sign in with. */
  readonly identityProviders: readonly (keyof SessionDeps['signIn'])[];
  /** Serves `/api/auth/*`. */
  mount(app: FastifyInstance): void;
  /**
   * The user of the request's cookie in the workspace that its header names, or its link where the endpoint knows such a
   * parameter, else in the first that they own, or are in; null for nobody.
   */
  caller(request: FastifyRequest, endpoint?: Pick<Endpoint, 'query'>): Promise<Caller | null>;
  /** The stored id of whoever is signed in, member or not; null for nobody, and where no page of ours asks. */
  user(request: FastifyRequest): Promise<string | null>;
  /** In its turn, among those who sign in. */
  readonly hashPassword: HashPassword;
  checkSameOrigin(request: FastifyRequest): void;
  /** A link to a page of ours, to be handed on. */
  link(request: FastifyRequest, path: string): string;
}

/** As better-auth stores it. Throws for a password that is too short or too long. */
export async function hashPassword(password: string): Promise<string> {
  if (password.length < passwordMin || password.length > passwordMax) {
    throw new CallFailure(
      'INVALID_REQUEST',
      `A password has ${passwordMin} to ${passwordMax} characters.`,
    );
  }
  return hash(password);
}

export function createSessions(parts: SessionDeps): Sessions {
  const { db, publicUrl, signIn } = parts;
  const options = sessionOptions(parts);
  const auth = betterAuth(options);
  const withIssuer = federation(parts, options);
  const hashing = limitHashing(hashesMax);
  /** Cookies of a session that was prolonged, until the answer leaves. */
  const prolonged = new WeakMap<FastifyRequest, string[]>();

  async function userOf(request: FastifyRequest): Promise<string | null> {
    const { cookie } = request.headers;
    if (cookie === undefined) return null;
    const asked = { headers: new Headers({ cookie }), returnHeaders: true } as const;
    try {
      const { headers, response } = await auth.api.getSession(asked);
      prolonged.set(request, headers.getSetCookie());
      return response?.user.id ?? null;
    } catch (error) {
      // It was ended while it was being prolonged.
      if (isAPIError(error) && error.statusCode === 401) return null;
      await readClock(db);
      throw error;
    }
  }

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const path = (request.url.split('?')[0] ?? '').slice(basePath.length);
    const open = sessionPath(path);
    if (!open) throw new CallFailure('NOT_FOUND', 'There is no such path.');
    if (request.method !== open.method) {
      reply.header('allow', open.method);
      throw new CallFailure('METHOD_NOT_ALLOWED', `This path answers ${open.method}.`);
    }
    if (fromBrowser(request)) checkSameOrigin(request, publicUrl);
    const body = parsesBody(open) ? fieldsOf<Fields>(await readBody(request), open) : undefined;
    const toIssuer = body?.provider === 'oidc' || path === '/callback/oidc';
    const { handler } = toIssuer ? await withIssuer() : auth;
    const ask = () => handler(webRequest(request, options.baseURL as string, body));
    const response = open.guarded ? await guarded(request, path, body, ask) : await ask();
    for (const cookie of response.headers.getSetCookie()) reply.header('set-cookie', cookie);
    if (response.status >= 400) throw await refusal(response);
    if (response.status >= 300) {
      return reply.redirect(response.headers.get('location') ?? '/', response.status);
    }
    return reply.type('application/json; charset=utf-8').send(await response.text());
  }

  async function guarded(
    request: FastifyRequest,
    path: string,
    body: Record<string, unknown> | undefined,
    ask: () => Promise<Response>,
  ): Promise<Response> {
    const email = typeof body?.email === 'string' ? body.email.toLowerCase() : null;
    const account = email ?? (await userOf(request));
    // Nobody's attempt is no guess, and must not use up those of the people in the same network.
    if (account === null) throw unauthorized();
    // better-auth sets the cookies of this answer itself.
    prolonged.delete(request);
    return guard(db, { ip: callerAddress(request) ?? '', path, account }, () => hashing(ask));
  }

  /** Its own words for what is wrong, in our form. Where the database is away, that is what is wrong. */
  async function refusal(response: Response): Promise<Error> {
    const code = codes[response.status];
    const { message } = (await response.json().catch(() => ({}))) as { message?: string };
    if (code) return new CallFailure(code, message ?? 'The request was refused.');
    await readClock(db);
    return new Error(`better-auth answered ${response.status}: ${message}`);
  }

  return {
    identityProviders: identityProviders.filter((one) => signIn[one] !== null),
    mount(app) {
      app.addHook('onSend', async (request, reply) => {
        for (const cookie of prolonged.get(request) ?? []) reply.header('set-cookie', cookie);
      });
      app.all(`${basePath}/*`, answer);
    },
    async caller(request, endpoint) {
      const named =
        request.headers[workspaceHeader.toLowerCase()] ?? workspaceOfLink(request, endpoint);
      const workspaceId = typeof named === 'string' ? fromId('workspace', named) : null;
      if (named !== undefined && workspaceId === null) return null;
      const userId = await userOf(request);
      return userId === null ? null : findSessionCaller(db, userId, workspaceId);
    },
    async user(request) {
      return isSameOrigin(request, publicUrl) ? userOf(request) : null;
    },
    hashPassword: (password) => hashing(() => hashPassword(password)),
    checkSameOrigin: (request) => checkSameOrigin(request, publicUrl),
    link: (request, path) => (publicUrl ?? originOf(request)) + path,
  };
}

/** Of the few routes that are followed as a link, which sends no header. Only they know such a parameter. */
function workspaceOfLink(
  { query }: FastifyRequest,
  endpoint: Pick<Endpoint, 'query'> | undefined,
): unknown {
  if (!endpoint?.query || !('workspace' in endpoint.query.properties)) return undefined;
  return (query as { workspace?: unknown }).workspace;
}

/** Each takes 32 MiB and a thread for a while. */
const hashesMax = { concurrent: 2, waiting: 100 };

const codes: Record<number, CallFailureCode> = {
  400: 'INVALID_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  422: 'INVALID_REQUEST',
};

/** A program may sign in without an origin; a browser must not be made to by another's page. */
function fromBrowser({ headers }: FastifyRequest): boolean {
  return Boolean(headers.cookie ?? headers.origin ?? headers['sec-fetch-site']);
}

type Fields = Record<string, unknown>;

const userAgentMax = 500;

/** Only what better-auth needs to see. */
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

const discoveryMs = 5_000;

/**
 * better-auth with the configured OpenID Connect issuer. It asks the issuer who it is before it answers anything, so
 * it is a second one, made when first needed: an issuer that is down or hangs keeps nobody else from their session.
 */
function federation({ signIn: { oidc } }: SessionDeps, options: BetterAuthOptions) {
  let made: Promise<Auth | null> | null = null;

  async function make(): Promise<Auth | null> {
    if (!oidc) return null;
    const { issuer, clientId, clientSecret } = oidc;
    const provider = {
      ...{ providerId: 'oidc', clientId, clientSecret, requireIdTokenVerification: true },
      discoveryUrl: `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
      scopes: ['openid', 'email', 'profile'],
    };
    const plugins: BetterAuthOptions['plugins'] = [genericOAuth({ config: [provider] })];
    const auth = betterAuth<BetterAuthOptions>({ ...options, plugins });
    const { socialProviders } = await auth.$context;
    if (socialProviders.some(({ id }) => id === 'oidc')) return auth;
    made = null;
    return null;
  }

  return async (): Promise<Auth> => {
    if (!oidc) throw new CallFailure('NOT_FOUND', 'There is no such provider.');
    made ??= make();
    const auth = await Promise.race([made, delay(discoveryMs, null, { ref: false })]);
    if (auth) return auth;
    throw new CallFailure('UNAVAILABLE', 'The identity provider does not answer. Try again.');
  };
}
