import { sql } from '../../src/db/sql.ts';
import { findUser } from '../../src/features/people/statements/users.ts';
import { password } from '../sessions.ts';
import type { Caller } from './callers.ts';
import type { Call, Prepare } from './calls.ts';
import type { AccessFixture } from './fixture.ts';

/** Sign-in and sessions: the exposed paths of the authentication library, and the rejection of all others. */

function at(path: string, body?: object): Prepare {
  return async () => ({ path: `/api/auth${path}`, ...(body && { body }) });
}

const unknownPath = at('/no-such-path');

export const sessionCalls: Readonly<Record<string, Prepare>> = {
  'POST /api/auth/sign-in/email': signIn,
  'POST /api/auth/sign-in/social': at('/sign-in/social', { provider: 'github' }),
  'POST /api/auth/link-social': at('/link-social', { provider: 'github' }),
  'POST /api/auth/unlink-account': unlink,
  'GET /api/auth/list-accounts': at('/list-accounts'),
  'GET /api/auth/get-session': at('/get-session'),
  'GET /api/auth/list-sessions': at('/list-sessions'),
  'POST /api/auth/sign-out': at('/sign-out'),
  'POST /api/auth/revoke-session': at('/revoke-session', { token: 'unknown' }),
  'POST /api/auth/revoke-sessions': at('/revoke-sessions'),
  'POST /api/auth/revoke-other-sessions': at('/revoke-other-sessions'),
  'POST /api/auth/change-password': at('/change-password', {
    currentPassword: password,
    newPassword: 'another horse battery',
  }),
  'POST /api/auth/request-password-reset': at('/request-password-reset', { email: 'a@b.example' }),
  'POST /api/auth/reset-password': at('/reset-password', {
    token: 'x',
    newPassword: 'long enough',
  }),
  'GET /api/auth/callback/github': at('/callback/github'),
  'GET /api/auth/callback/google': at('/callback/google'),
  'GET /api/auth/callback/oidc': at('/callback/oidc'),
  'GET /api/auth/*': unknownPath,
  'POST /api/auth/*': unknownPath,
  'HEAD /api/auth/*': unknownPath,
  'TRACE /api/auth/*': unknownPath,
  'DELETE /api/auth/*': unknownPath,
  'OPTIONS /api/auth/*': unknownPath,
  'PATCH /api/auth/*': unknownPath,
  'PUT /api/auth/*': unknownPath,
  'QUERY /api/auth/*': unknownPath,
};

async function signIn({ environment }: AccessFixture): Promise<Call> {
  const { email } = (await findUser(environment.db, environment.ownerId)) ?? {};
  return { path: '/api/auth/sign-in/email', body: { email, password } };
}

/** Unlinks the GitHub account; the password account remains. */
async function unlink(
  { environment }: AccessFixture,
  _note: string,
  { userId }: Caller,
): Promise<Call> {
  const { rows } = await sql<{ id: string }>`
    select id from accounts where user_id = ${userId} and provider_id = 'github'`.execute(
    environment.db,
  );
  return { path: '/api/auth/unlink-account', body: { accountId: rows[0]?.id ?? '' } };
}
