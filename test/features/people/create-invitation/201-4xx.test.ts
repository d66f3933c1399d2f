import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';
import { toId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/invitations';
const dayMs = 86_400_000;

test('returns a link once, which is valid for seven days', async () => {
  const { cookie, userId } = await service.signIn();
  const body = { email: 'New.Person@Example.com', role: 'editor' };
  const response = await service.call('POST', path, { cookie, body });
  assert.equal(response.status, 201);
  const { url, emailed, ...invitation } = response.body;
  assert.equal(invitation.email, 'new.person@example.com');
  assert.deepEqual([invitation.role, invitation.createdBy], ['editor', toId('user', userId)]);
  const lasts = Date.parse(invitation.expiresAt) - Date.parse(invitation.createdAt);
  assert.ok(Math.abs(lasts - 7 * dayMs) < dayMs / 24, `${lasts} ms`);
  assert.equal(emailed, false);
  assert.match(url, new RegExp(`^${service.url}/invitations/[\\w-]{43}$`));

  const list = await service.call('GET', path, { cookie });
  assert.deepEqual(list.body.invitations, [invitation]);
  const token = url.split('/').at(-1);
  const { rows } = await sql<{ row: string }>`
    select row_to_json(i)::text as row from invitations i`.execute(service.db);
  assert.ok(rows.every(({ row }) => !row.includes(token)));
});

test('the link uses the public URL', async (t) => {
  const publicUrl = 'https://cueline.example.com';
  const second = await startService({ sharedWith: service, publicUrl });
  t.after(second.close);
  const { key } = await service.key();
  const body = { email: 'far@example.com', role: 'viewer' };
  const response = await second.call('POST', path, { key, body });
  assert.ok(response.body.url.startsWith(`${publicUrl}/invitations/`));
  assert.equal(response.body.createdBy, toId('user', service.ownerId));
});

test('a second invitation of an address replaces the first', async () => {
  const { workspaceId, ownerId } = await service.workspace();
  const { key } = await service.key({ workspaceId, userId: ownerId });
  const invite = async (email: string, role: string) =>
    (await service.call('POST', path, { key, body: { email, role } })).body;
  const [first] = await Promise.all([
    invite('same@example.com', 'viewer'),
    invite('other@example.com', 'viewer'),
  ]);
  const second = await invite('SAME@example.com', 'owner');
  const { body } = await service.call('GET', path, { key });
  const open = body.invitations.map(({ email, role }: Record<string, string>) => [email, role]);
  assert.deepEqual(open.sort(), [
    ['other@example.com', 'viewer'],
    ['same@example.com', 'owner'],
  ]);
  const person = { name: 'Same', password: 'correct horse battery' };
  const accept = async ({ url }: { url: string }) => {
    const token = url.split('/').at(-1);
    return (await service.call('POST', `${path}/accept`, { body: { ...person, token } })).status;
  };
  assert.deepEqual([await accept(first), await accept(second)], [404, 200]);
});

test('concurrent invitations of one address leave one open', async () => {
  const { workspaceId, ownerId } = await service.workspace();
  const { key } = await service.key({ workspaceId, userId: ownerId });
  const body = { email: 'same@example.com', role: 'viewer' };
  const all = await Promise.all([1, 2, 3, 4].map(() => service.call('POST', path, { key, body })));
  assert.ok(all.every(({ status }) => status === 201));
  const { body: open } = await service.call('GET', path, { key });
  assert.equal(open.invitations.length, 1);
});

test('400 for an address that could not sign in', async () => {
  const user = service.ownerId;
  const body = { email: 'new@localhost', role: 'viewer' };
  const response = await service.call('POST', path, { user, body });
  assert.deepEqual([response.status, response.body.code], [400, 'INVALID_REQUEST']);
});

test('409 for the address of a member', async () => {
  const { key } = await service.key();
  const email = `${await service.member('viewer')}@EXAMPLE.com`;
  const response = await service.call('POST', path, { key, body: { email, role: 'owner' } });
  assert.deepEqual([response.status, response.body.code], [409, 'CONFLICT']);
});
