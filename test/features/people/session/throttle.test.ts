import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { send } from '../../../../harness/browser.ts';
import { startService } from '../../../../harness/service.ts';
import { password } from '../../../../harness/sessions.ts';
import { sql } from '../../../../src/db/sql.ts';
import { networkOf } from '../../../../src/features/people/access/sign-in-guard.ts';

const service = await startService();
const second = await startService({ sharedWith: service });
after(async () => {
  await second.close();
  await service.close();
});
const { email, cookie } = await service.signIn();
beforeEach(() => sql`delete from sign_in_attempts`.execute(service.db));

async function tries(urls: readonly string[], candidate: string): Promise<number[]> {
  const statuses: number[] = [];
  for (const url of urls) statuses.push((await signIn(url, candidate)).status);
  return statuses;
}
const signIn = (url: string, candidate: string) =>
  send(url, 'POST', '/api/auth/sign-in/email', { body: { email, password: candidate } });
const times = (n: number, value: string) => Array<string>(n).fill(value);

test('after ten failures across processes, even the right password is rejected', async () => {
  await tries([...times(5, service.url), ...times(5, second.url)], 'a wrong password');
  for (const { url } of [service, second]) {
    const { status, headers, body } = await signIn(url, password);
    assert.equal(status, 429);
    assert.equal(body.code, 'RATE_LIMIT_EXCEEDED');
    assert.equal(headers.get('retry-after'), String(body.retryAfter));
    assert.ok(body.retryAfter >= 1 && body.retryAfter <= 300);
    assert.deepEqual(headers.getSetCookie(), []);
  }
  await sql`update sign_in_attempts set last_request = last_request - 300000`.execute(service.db);
  assert.equal((await signIn(service.url, password)).status, 200);
});

test('successful attempts do not count', async () => {
  assert.deepEqual(new Set(await tries(times(9, service.url), 'a wrong password')), new Set([401]));
  assert.deepEqual(await tries(times(3, service.url), password), [200, 200, 200]);
  assert.deepEqual(await tries(times(1, second.url), 'a wrong password'), [401]);
  assert.deepEqual(await tries(times(1, second.url), password), [429]);
});

test('concurrent attempts count like sequential ones', async () => {
  const urls = [...times(7, service.url), ...times(7, second.url)];
  const all = await Promise.all(urls.map((url) => signIn(url, 'a wrong password')));
  assert.deepEqual(all.map(({ status }) => status).sort(), [
    ...Array<number>(10).fill(401),
    ...Array<number>(4).fill(429),
  ]);
});

test('failures of one account do not block others of its network, and rejected attempts do not count', async () => {
  const other = await service.signIn();
  await tries(times(15, service.url), 'a wrong password');
  const body = { email: other.email, password };
  const many = Array.from({ length: 20 }, () =>
    send(service.url, 'POST', '/api/auth/sign-in/email', { body }),
  );
  await Promise.all(many);
  assert.equal((await send(service.url, 'POST', '/api/auth/sign-in/email', { body })).status, 200);
});

test('guesses of the current password are limited too', async () => {
  const change = async () => {
    const body = { currentPassword: 'a wrong password', newPassword: 'another password' };
    const sent = { cookie, origin: service.url, body };
    return (await send(service.url, 'POST', '/api/auth/change-password', sent)).status;
  };
  for (let i = 0; i < 10; i++) assert.equal(await change(), 400);
  assert.equal(await change(), 429);
  const other = await service.signIn();
  const body = { currentPassword: password, newPassword: 'another password' };
  const sent = { cookie: other.cookie, origin: service.url, body };
  const changed = await send(service.url, 'POST', '/api/auth/change-password', sent);
  assert.equal(changed.status, 200, 'another on the same network');
  assert.equal((await signIn(service.url, password)).status, 200);
});

test('guesses from all networks are limited, except from networks with a session of the account', async () => {
  await signIn(service.url, 'a wrong password');
  const known = await sql`select from sign_in_attempts where key like 'everywhere|%'`.execute(
    service.db,
  );
  assert.equal(known.rows.length, 0);
  await sql`update sessions set ip_address = '198.51.100.7'`.execute(service.db);
  await signIn(service.url, 'a wrong password');
  await sql`update sign_in_attempts set count = 100 where key like 'everywhere|%'`.execute(
    service.db,
  );
  const { status, body } = await signIn(service.url, password);
  assert.equal(status, 429);
  assert.ok(body.retryAfter > 300 && body.retryAfter <= 3_600);
  await sql`update sessions set ip_address = '127.0.0.1'`.execute(service.db);
  assert.equal((await signIn(service.url, password)).status, 200);
});

test('old windows are deleted', async () => {
  await sql`
    insert into sign_in_attempts (id, key, count, last_request)
    select gen_random_uuid(), 'old' || n, 1, 0 from generate_series(1, 5) n`.execute(service.db);
  await signIn(service.url, password);
  const { rows } = await sql`select from sign_in_attempts`.execute(service.db);
  // One row for its network and one for its account.
  assert.equal(rows.length, 2);
});

test('IPv6 counts per /64, IPv4 per address', () => {
  const networks: [string, string][] = [
    ['192.0.2.7', '192.0.2.7'],
    ['2001:DB8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
  ];
  for (const [ip, network] of networks) assert.equal(networkOf(ip), network);
});
