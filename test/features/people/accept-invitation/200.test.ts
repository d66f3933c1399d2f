import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { send } from '../../../../harness/browser.ts';
import { startService } from '../../../../harness/service.ts';
import { toId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';
import { hashPassword } from '../../../../src/features/people/access/session.ts';
import { resetPassword } from '../../../../src/features/people/verbs/reset-password.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/invitations/accept';
const { key } = await service.key();
const password = 'correct horse battery';

async function invite(email: string, role = 'editor', secret = key): Promise<string> {
  const body = { email, role };
  const response = await service.call('POST', '/api/v1/invitations', { key: secret, body });
  return response.body.url.split('/').at(-1);
}

test('creates the account and the member, who can then sign in', async () => {
  const email = 'new@example.com';
  const token = await invite('New@example.com');
  const body = { token, name: 'Zoë', password };
  const accepted = await service.call('POST', path, { body });
  assert.equal(accepted.status, 200);
  const { userId, ...rest } = accepted.body;
  const workspaceId = toId('workspace', service.workspaceId);
  assert.deepEqual(rest, { email, workspaceId, name: 'Test', role: 'editor' });
  const signIn = { email, password };
  const { cookie } = await send(service.url, 'POST', '/api/auth/sign-in/email', { body: signIn });
  const { body: me } = await service.call('GET', '/api/v1/me', { cookie });
  assert.deepEqual(me.user, { userId, email, name: 'Zoë' });
  assert.deepEqual([me.workspaceId, me.role], [workspaceId, 'editor']);
});

test('an existing account joins and keeps its name and password', async () => {
  const other = await service.workspace();
  const { cookie, userId, email } = await service.signIn('viewer');
  const inviter = await service.key({ workspaceId: other.workspaceId, userId: other.ownerId });
  const token = await invite(email, 'owner', inviter.key);
  const body = { token, name: 'Other', password: 'another password' };
  const accepted = await service.call('POST', path, { cookie, body });
  assert.equal(accepted.status, 200);
  assert.equal(accepted.body.userId, toId('user', userId));
  const me = await service.call('GET', '/api/v1/me', { cookie });
  assert.equal(me.body.user.name, 'viewer');
  assert.equal(me.body.workspaces.length, 2);
  await service.signIn({ userId });
});

test('resetting the password returns an address that somebody else registered to its owner', async () => {
  const email = 'victim@example.com';
  const token = await invite(email, 'viewer');
  const { body: taken } = await service.call('POST', path, {
    body: { token, name: 'V', password },
  });
  const enter = (secret: string) =>
    send(service.url, 'POST', '/api/auth/sign-in/email', { body: { email, password: secret } });
  const { cookie: before } = await enter(password);
  const { password: given } = await resetPassword(service.db, email, hashPassword);
  assert.equal((await service.call('GET', '/api/v1/me', { cookie: before })).status, 401);
  assert.equal((await enter(password)).status, 401);
  const { cookie } = await enter(given ?? '');
  const membership = `/api/v1/members/${taken.userId}`;
  assert.equal((await service.call('DELETE', membership, { cookie })).status, 204);
  assert.equal((await service.call('GET', '/api/v1/me', { cookie })).status, 401);
});

test('a link works once, even for concurrent requests', async () => {
  const token = await invite('once@example.com');
  const accept = () => service.call('POST', path, { body: { token, name: 'Once', password } });
  const all = await Promise.all([accept(), accept(), accept(), accept()]);
  assert.equal(all.filter(({ status }) => status === 200).length, 1);
  assert.ok(all.every(({ status }) => [200, 404, 409].includes(status)));
  assert.equal((await accept()).status, 404);
  const { rows } = await sql`
    select from users u join accounts a on a.user_id = u.id join members m on m.user_id = u.id
    where u.email = 'once@example.com'`.execute(service.db);
  assert.equal(rows.length, 1);
});
