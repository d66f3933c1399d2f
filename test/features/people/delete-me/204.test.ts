import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { send } from '../../../../harness/browser.ts';
import { startService } from '../../../../harness/service.ts';
import { password, type SignedIn } from '../../../../harness/sessions.ts';
import { toId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const user = service.ownerId;

const remove = ({ cookie }: SignedIn) => service.call('DELETE', '/api/v1/me', { cookie });
const signIn = (email: string, given = password) =>
  send(service.url, 'POST', '/api/auth/sign-in/email', { body: { email, password: given } });

/** All rows of all tables, as one text. */
async function everything(): Promise<string> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = current_schema() and table_type = 'BASE TABLE'`.execute(service.db);
  const texts = await Promise.all(
    tables.map(async ({ name }) => {
      const { rows } = await sql<{ text: string }>`
        select coalesce(string_agg(t::text, ' '), '') as text from ${sql.table(name)} t`.execute(
        service.db,
      );
      return rows[0]?.text ?? '';
    }),
  );
  return texts.join('\n');
}

test('the account ends with its sessions, keys and everything that names its address', async () => {
  const email = 'ada@example.com';
  const body = { email, role: 'editor' };
  const invited = await service.call('POST', '/api/v1/invitations', { user, body });
  const token = invited.body.url.split('/').at(-1);
  const acceptance = { token, name: 'Ada Lovelace', password };
  await service.call('POST', '/api/v1/invitations/accept', { body: acceptance });
  await signIn(email, 'a wrong password');
  const signedIn = await signIn(email);
  const { cookie } = signedIn;
  const { body: me } = await service.call('GET', '/api/v1/me', { cookie });
  const { rows } = await sql<{ id: string }>`
    select id from users where email = ${email}`.execute(service.db);
  const userId = rows[0]?.id ?? '';
  const key = await service.key({ userId });
  assert.match(await everything(), /ada@example\.com/);

  const deleted = await remove({ cookie, userId, email });
  assert.deepEqual([deleted.status, deleted.body], [204, null]);
  assert.equal((await service.call('GET', '/api/v1/me', { cookie })).status, 401);
  assert.equal((await service.call('GET', '/api/v1/agents', { key: key.key })).status, 401);
  assert.equal((await signIn(email)).status, 401);
  // The failed sign-in above counts again.
  await sql`delete from sign_in_attempts`.execute(service.db);
  const left = await everything();
  assert.doesNotMatch(left, /ada@example\.com|Ada Lovelace/);

  const { body: log } = await service.call('GET', '/api/v1/audit', { user });
  const line = log.audit.find(({ action }: { action: string }) => action === 'member.remove');
  assert.deepEqual(
    [line.subject, line.userId, line.details],
    [me.user.userId, me.user.userId, { role: 'editor', accountDeleted: true }],
  );
});

test('members of several workspaces and of none delete their accounts', async () => {
  const several = await service.signIn('viewer');
  const other = await service.workspace();
  await sql`
    insert into members (workspace_id, user_id, role)
    values (${other.workspaceId}, ${several.userId}, 'owner')`.execute(service.db);
  const none = await service.signIn('viewer');
  const path = `/api/v1/members/${toId('user', none.userId)}`;
  assert.equal((await service.call('DELETE', path, { user })).status, 204);
  for (const one of [several, none]) {
    assert.equal((await remove(one)).status, 204);
    assert.equal((await signIn(one.email)).status, 401);
    assert.equal((await remove(one)).status, 401);
  }
});
