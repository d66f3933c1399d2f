import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { betterAuth } from 'better-auth';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../src/core/people/caller.ts';
import type { Db } from '../src/db/database.ts';
import { hashPassword, type Sessions } from '../src/features/people/access/session.ts';
import { type SessionDeps, sessionOptions } from '../src/features/people/access/session-options.ts';
import { findSessionCaller } from '../src/features/people/statements/callers.ts';
import { findUser, setPassword } from '../src/features/people/statements/users.ts';
import type { Endpoint } from '../src/http/contract/operation.ts';
import { userHeader } from './call.ts';
import { freshId } from './fresh-id.ts';

/** Users and sessions of the service under test. */

export const password = 'correct horse battery';
/** One hash for all users, made on first use: hashing is slow on purpose. */
let passwordHash: Promise<string> | undefined;

/** Authenticates the user that the test header names; without the header, the session cookie decides. */
export function memberSessionOf(db: Db, caller: Sessions['caller']) {
  return async (request: FastifyRequest, endpoint: Endpoint): Promise<Caller | null> => {
    const user = request.headers[userHeader];
    return typeof user === 'string' ? findSessionCaller(db, user, null) : caller(request, endpoint);
  };
}

export interface SignedIn {
  /** The `Cookie` header. */
  readonly cookie: string;
  /** The stored id. */
  readonly userId: string;
  readonly email: string;
}

/** Sets the test password for the user and signs them in. */
export async function signIn(
  service: { readonly db: Db; readonly url: string },
  userId: string,
): Promise<SignedIn> {
  const { db, url } = service;
  const user = await addPassword(db, userId);
  const response = await fetch(`${url}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: user.email, password }),
  });
  assert.equal(response.status, 200, await response.text());
  return { cookie: cookiesOf(response), userId, email: user.email };
}

/** Creates sessions like sign-ins, but without hashing the password, which takes longer than most tests. */
export function sessionCreator(deps: SessionDeps): (userId: string) => Promise<SignedIn> {
  let auth: ReturnType<typeof betterAuth>['$context'] | undefined;
  return async (userId) => {
    const user = await addPassword(deps.db, userId);
    auth ??= betterAuth(sessionOptions(deps)).$context;
    const { internalAdapter, authCookies, secret } = await auth;
    const client = { ipAddress: '127.0.0.1', userAgent: 'node' };
    const { token } = await internalAdapter.createSession(userId, false, client);
    const signature = createHmac('sha256', secret).update(token).digest('base64');
    const value = encodeURIComponent(`${token}.${signature}`);
    return { cookie: `${authCookies.sessionToken.name}=${value}`, userId, email: user.email };
  };
}

/** Sets the test password for the user. */
async function addPassword(db: Db, userId: string) {
  const user = await findUser(db, userId);
  assert.ok(user, 'no such user');
  passwordHash ??= hashPassword(password);
  const hash = await passwordHash;
  await db.transaction((trx) => setPassword(trx, { id: freshId(), userId, hash }));
  return user;
}

/** The cookies of a response, in the form in which a browser sends them back. */
export function cookiesOf(response: { readonly headers: Headers }): string {
  return response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ');
}
