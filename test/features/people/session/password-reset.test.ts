import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startMailServer } from '../../../../harness/mail-server.ts';
import { startService } from '../../../../harness/service.ts';
import { password } from '../../../../harness/sessions.ts';
import { sql } from '../../../../src/db/sql.ts';

const mailServer = await startMailServer();
const publicUrl = 'https://cueline.example';
const service = await startService({
  publicUrl,
  config: { smtp: { url: mailServer.url, from: 'Cueline <cueline@example.com>' } },
});
after(async () => {
  await service.close();
  await mailServer.close();
});

async function post(path: string, body: object, url = service.url) {
  const response = await fetch(`${url}/api/auth${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as object };
}

/** Requests a reset; returns the token in the mail. */
async function requested(email: string): Promise<string> {
  const before = mailServer.mails.length;
  assert.equal((await post('/request-password-reset', { email })).status, 200);
  const mail = (await mailServer.received(before + 1)).at(-1);
  assert.deepEqual([mail?.from, mail?.to], ['cueline@example.com', [email]]);
  assert.match(mail?.text ?? '', /^Subject: Reset your password$/m);
  const link = /^https:\/\/cueline\.example\/sign-in\/reset\/(\S+)$/m.exec(mail?.text ?? '');
  assert.ok(link?.[1], 'the mail has no link');
  return link[1];
}

test('a link sets a new password once and ends all sessions', async () => {
  const { email, cookie } = await service.signIn('owner');
  const token = await requested(email);
  const { rows } = await sql<{ stored: string }>`
    select string_agg(to_jsonb(v)::text, ' ') as stored from verifications v`.execute(service.db);
  assert.ok(!rows[0]?.stored.includes(token));
  const newPassword = 'another horse battery';
  assert.equal((await post('/reset-password', { token, newPassword })).status, 200);
  assert.equal((await post('/reset-password', { token, newPassword })).status, 400);
  assert.equal((await service.call('GET', '/api/v1/me', { cookie })).status, 401);
  assert.equal((await post('/sign-in/email', { email, password })).status, 401);
  assert.equal((await post('/sign-in/email', { email, password: newPassword })).status, 200);
  const { key } = await service.key();
  const { body } = await service.call('GET', '/api/v1/audit?action=password.reset', { key });
  assert.equal(body.audit.length, 1);
});

test('a link expires after an hour, and a short password leaves it valid', async () => {
  const { email } = await service.signIn('viewer');
  const token = await requested(email);
  const short = await post('/reset-password', { token, newPassword: 'short' });
  assert.equal(short.status, 400);
  await sql`update verifications set expires_at = expires_at - interval '1 hour'`.execute(
    service.db,
  );
  const { status } = await post('/reset-password', { token, newPassword: 'another horse battery' });
  assert.equal(status, 400);
});

test('an unknown address gets the same answer and no mail, like an account without a password', async () => {
  const known = await service.signIn('viewer');
  const foreign = await service.signIn('viewer');
  await sql`
    update accounts set provider_id = 'github' where user_id = (select id from users where email = ${foreign.email})`.execute(
    service.db,
  );
  const answers = [];
  for (const email of ['nobody@example.com', foreign.email, known.email]) {
    const { status, body } = await post('/request-password-reset', { email });
    answers.push([status, body]);
  }
  assert.deepEqual(answers[1], answers[0]);
  assert.deepEqual(answers[2], answers[0]);
  await requested(known.email);
  const recipients = mailServer.mails.flatMap(({ to }) => to);
  assert.ok(!recipients.includes(foreign.email) && !recipients.includes('nobody@example.com'));
});

test('requests are limited per address', async () => {
  const { email } = await service.signIn('viewer');
  const statuses = [];
  for (let n = 0; n < 11; n++) {
    statuses.push((await post('/request-password-reset', { email })).status);
  }
  assert.deepEqual(statuses, [...Array(10).fill(200), 429]);
});

test('the server says whether it resets passwords, and without e-mail there is no such path', async (t) => {
  const { body } = await service.call('GET', '/api/v1/identity-providers');
  assert.equal(body.passwordReset, true);
  const silent = await startService();
  t.after(silent.close);
  for (const path of ['/request-password-reset', '/reset-password']) {
    const { status } = await post(path, {}, silent.url);
    assert.equal(status, 404);
  }
});
