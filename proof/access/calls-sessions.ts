import { sql } from 'kysely';
import { password } from '../../harness/sessions.ts';
import { findUser } from '../../src/store/people/users.ts';
import type { Caller } from './callers.ts';
import type { Call, Prepare } from './calls.ts';
import type { AccessFixture } from './fixture.ts';

/** Signing in and out: what of the library underneath is open, and that nothing else is. */

function at(path: string, body?: object): Prepare {
  return async () => ({ path: `/api/auth${path}`, ...(body && { body }) });
}

const nowhere = at('/no-such-path');

export const sessionCalls: Readonly<Record<string, Prepare>> = {
  'POST /api/auth/sign-in/email': signIn,
  'POST /api/auth/sign-in/social': at('/sign-in/social', { provider: 'github' }),
  'POST /api/auth/link-social': at('/link-social', { provider: 'github' }),
  'POST /api/auth/unlink-account': unlink,
  'GET /api/auth/list-accounts': at('/list-accounts'),
  'GET /api/auth/get-session': at('/get-session'),
  'GET /api/auth/list-sessions': at('/list-sessions'),
  'POST /api/auth/sign-out': at('/sign-out'),
  'POST /api/auth/revoke-session': at('/revoke-session', { token: 'of nobody' }),
  'POST /api/auth/revoke-sessions': at('/revoke-sessions'),
  'POST /api/auth/revoke-other-sessions': at('/revoke-other-sessions'),
  'POST /api/auth/change-password': at('/change-password', {
    currentPassword: password,
    newPassword: 'another horse battery',
  }),
  'GET /api/auth/callback/github': at('/callback/github'),
  'GET /api/auth/callback/google': at('/callback/google'),
  'GET /api/auth/callback/oidc': at('/callback/oidc'),
  'GET /api/auth/*': nowhere,
  'POST /api/auth/*': nowhere,
  'HEAD /api/auth/*': nowhere,
  'TRACE /api/auth/*': nowhere,
  'DELETE /api/auth/*': nowhere,
  'OPTIONS /api/auth/*': nowhere,
  'PATCH /api/auth/*': nowhere,
  'PUT /api/auth/*': nowhere,
  'QUERY /api/auth/*': nowhere,
};

async function signIn({ environment }: AccessFixture): Promise<Call> {
  const { email } = (await findUser(environment.db, environment.ownerId)) ?? {};
  return { path: '/api/auth/sign-in/email', body: { email, password } };
}

/** The other of the two accounts that everyone can sign in with. */
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
