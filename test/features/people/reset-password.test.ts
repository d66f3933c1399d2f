import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { send } from '../../../harness/browser.ts';
import { startService } from '../../../harness/service.ts';
import { password as old } from '../../../harness/sessions.ts';
import { CallFailure } from '../../../src/core/failure.ts';
import { sql } from '../../../src/db/sql.ts';
import { hashPassword } from '../../../src/features/people/access/session.ts';
import { resetPassword } from '../../../src/features/people/verbs/reset-password.ts';

const service = await startService();
after(service.close);

const signIn = async (email: string, password: string) => {
  const body = { email, password };
  return (await send(service.url, 'POST', '/api/auth/sign-in/email', { body })).status;
};
const me = async (cookie: string) => (await service.call('GET', '/api/v1/me', { cookie })).status;

test('a generated password works, and the old one and all sessions are invalid', async () => {
  const { email, cookie } = await service.signIn();
  const stranger = await service.signIn();
  const { password } = await resetPassword(service.db, email.toUpperCase(), hashPassword);
  assert.match(password ?? '', /^[\w-]{16}$/);
  assert.deepEqual([await me(cookie), await me(stranger.cookie)], [401, 200]);
  assert.deepEqual([await signIn(email, old), await signIn(email, password ?? '')], [401, 200]);
});

test('a generated password is marked until another one is set', async () => {
  const { email } = await service.signIn();
  const { password } = await resetPassword(service.db, email, hashPassword);
  const signInAs = (candidate: string) =>
    send(service.url, 'POST', '/api/auth/sign-in/email', { body: { email, password: candidate } });
  const isGenerated = async (cookie: string) =>
    (await service.call('GET', '/api/v1/me', { cookie })).body.generatedPassword;
  const { cookie } = await signInAs(password ?? '');
  assert.equal(await isGenerated(cookie), true);
  const body = { currentPassword: password, newPassword: 'a password of their own' };
  const sent = { cookie, body, origin: service.url };
  const changed = await send(service.url, 'POST', '/api/auth/change-password', sent);
  assert.equal(changed.status, 200);
  assert.equal(await isGenerated(changed.cookie), false);
  await resetPassword(service.db, email, hashPassword, 'one that was candidate');
  assert.equal(await isGenerated((await signInAs('one that was candidate')).cookie), false);
});

test('a given password is set and not returned', async () => {
  const { email } = await service.signIn();
  const candidate = 'another password';
  assert.deepEqual(await resetPassword(service.db, email, hashPassword, candidate), {
    password: null,
  });
  assert.equal(await signIn(email, candidate), 200);
});

test('a user without a password gets one', async () => {
  const userId = await service.member('viewer');
  const email = `${userId}@example.com`;
  const { password } = await resetPassword(service.db, email, hashPassword);
  assert.equal(await signIn(email, password ?? ''), 200);
});

test('an unknown user and a short password are refused without a change', async () => {
  const { email, cookie } = await service.signIn();
  const refused = (address: string, password?: string) =>
    assert.rejects(resetPassword(service.db, address, hashPassword, password), CallFailure);
  await refused('nobody@example.com');
  await refused(email, 'too short');
  assert.equal(await me(cookie), 200);
  const { rows } = await sql`select from users where email = 'nobody@example.com'`.execute(
    service.db,
  );
  assert.equal(rows.length, 0);
});
