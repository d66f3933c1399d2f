import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { send } from '../../../../harness/browser.ts';
import { startService } from '../../../../harness/service.ts';
import { password } from '../../../../harness/sessions.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);

const me = async (cookie: string) => (await service.call('GET', '/api/v1/me', { cookie })).status;
const auth = (path: string, cookie: string, body?: unknown) =>
  send(service.url, 'POST', `/api/auth/${path}`, { cookie, body, origin: service.url });
async function twice() {
  const first = await service.openSession();
  const again = await service.openSession({ userId: first.userId });
  return { ...first, other: again.cookie };
}

test('signing out ends the session in the browser and on the server', async () => {
  const { cookie, other } = await twice();
  const { status, headers } = await auth('sign-out', cookie);
  assert.equal(status, 200);
  assert.match(headers.getSetCookie().join('\n'), /^cueline\.session_token=; Max-Age=0/m);
  assert.deepEqual([await me(cookie), await me(other)], [401, 200]);
});

test('endpoints without fields reject fields, and end no session', async () => {
  const { cookie, other } = await twice();
  for (const path of ['sign-out', 'revoke-sessions', 'revoke-other-sessions']) {
    const { status, body } = await auth(path, cookie, { token: 'x' });
    assert.deepEqual([status, body.code], [400, 'INVALID_REQUEST']);
    assert.match(body.message, /Unknown field "token"/);
  }
  assert.deepEqual([await me(cookie), await me(other)], [200, 200]);
  assert.equal((await auth('sign-out', cookie, {})).status, 200);
});

test('signing out everywhere ends all sessions', async () => {
  const { cookie, other } = await twice();
  const stranger = await service.openSession();
  assert.equal((await auth('revoke-sessions', cookie)).status, 200);
  assert.deepEqual([await me(cookie), await me(other), await me(stranger.cookie)], [401, 401, 200]);
  assert.equal((await auth('revoke-sessions', cookie)).status, 401);
});

test('a user keeps the hundred most recent sessions, including the newest', async () => {
  const { cookie, other, userId } = await twice();
  const stranger = await service.openSession();
  const add = (userId: string, age: string) =>
    sql`
    insert into sessions (id, user_id, token, expires_at, updated_at)
    select gen_random_uuid(), ${userId}, gen_random_uuid()::text, clock_timestamp() + interval '1 day',
      clock_timestamp() - ${age}::interval
    from generate_series(1, 97)`.execute(service.db);
  await add(userId, '1 minute');
  await add(stranger.userId, '1 hour');
  await sql`
    update sessions set updated_at = clock_timestamp() - interval '1 hour'
    where id = (select id from sessions where user_id = ${userId} order by created_at limit 1)`.execute(
    service.db,
  );
  const count = async (userId: string) =>
    (await sql`select from sessions where user_id = ${userId}`.execute(service.db)).rows.length;
  const third = await service.signIn({ userId });
  assert.equal(await count(userId), 100);
  assert.deepEqual([await me(cookie), await me(other)], [200, 200]);
  const more = await Promise.all([1, 2, 3].map(() => service.signIn({ userId })));
  assert.equal(await count(userId), 100);
  assert.deepEqual([await me(cookie), await me(other), await me(third.cookie)], [401, 200, 200]);
  for (const one of more) assert.equal(await me(one.cookie), 200);
  assert.deepEqual([await count(stranger.userId), await me(stranger.cookie)], [98, 200]);
});

test('a user can end one or all other sessions of their own', async () => {
  const { cookie, other } = await twice();
  const stranger = await service.openSession();
  const { body } = await send(service.url, 'GET', '/api/auth/list-sessions', stranger);
  await auth('revoke-session', cookie, { token: body[0].token });
  assert.equal((await auth('revoke-other-sessions', cookie)).status, 200);
  assert.deepEqual([await me(cookie), await me(other), await me(stranger.cookie)], [200, 401, 200]);
});

for (const revokeOtherSessions of [undefined, true, false]) {
  const told = JSON.stringify({ revokeOtherSessions });
  test(`changing the password requires the old one and ends other sessions: ${told}`, () =>
    changePassword({ revokeOtherSessions }));
}

async function changePassword(fields: object): Promise<void> {
  const { cookie, other, email } = await twice();
  const newPassword = 'another password';
  const change = (more: object) => auth('change-password', cookie, { newPassword, ...more });
  assert.equal((await change({ currentPassword: 'a wrong password' })).status, 400);
  const short = { currentPassword: password, newPassword: 'short' };
  assert.equal((await change(short)).status, 400);
  const changed = await change({ currentPassword: password, ...fields });
  assert.equal(changed.status, 200);
  assert.deepEqual([await me(cookie), await me(other), await me(changed.cookie)], [401, 401, 200]);
  const signIn = async (candidate: string) =>
    (await auth('sign-in/email', '', { email, password: candidate })).status;
  assert.deepEqual([await signIn(password), await signIn(newPassword)], [401, 200]);
}

test('a session expires, and use renews it', async () => {
  const { cookie, userId } = await service.openSession();
  const inDays = (days: number) =>
    sql`
    update sessions set expires_at = clock_timestamp() + make_interval(days => ${days})
    where user_id = ${userId}`.execute(service.db);
  await inDays(5);
  const used = await service.call('GET', '/api/v1/me', { cookie });
  assert.match(
    used.headers.getSetCookie().join('\n'),
    /^cueline\.session_token=.*Max-Age=2592000/m,
  );
  const { rows } = await sql<{ long: boolean }>`
    select expires_at > clock_timestamp() + interval '20 days' as long from sessions
    where user_id = ${userId}`.execute(service.db);
  assert.deepEqual(rows, [{ long: true }]);
  const unchanged = await service.call('GET', '/api/v1/me', { cookie });
  assert.deepEqual(unchanged.headers.getSetCookie(), []);
  await inDays(-5);
  assert.equal(await me(cookie), 401);
});

test('expired sessions are deleted at the next sign-in', async () => {
  const { userId } = await twice();
  await sql`update sessions set expires_at = 'epoch' where user_id = ${userId}`.execute(service.db);
  await service.signIn({ userId });
  const { rows } = await sql`select from sessions where user_id = ${userId}`.execute(service.db);
  assert.equal(rows.length, 1);
});

test('a cookie with a foreign signature is ignored', async () => {
  const { cookie } = await service.openSession();
  const [name, value = ''] = cookie.split('=');
  const [token, signature = ''] = decodeURIComponent(value).split('.');
  const forged = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
  for (const other of [
    token,
    `${token}.`,
    `${token}.${forged}`,
    `${token}.${signature}x`,
    '',
    '%',
  ]) {
    assert.equal(await me(`${name}=${other && encodeURIComponent(other)}`), 401);
  }
});
