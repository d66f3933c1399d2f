import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../harness/service.ts';
import { toId } from '../../../src/core/id.ts';
import { sql } from '../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/views';
const body = { name: 'Failures', search: 'status=failed' };

test('deletes a view of the user, once', async () => {
  const user = service.ownerId;
  const { viewId } = (await service.call('POST', path, { user, body })).body;
  const remove = (who: string) => service.call('DELETE', `${path}/${viewId}`, { user: who });
  assert.equal((await remove(await service.member('owner'))).status, 404);
  assert.equal((await remove(user)).status, 204);
  assert.equal((await remove(user)).status, 404);
  assert.equal((await service.call('DELETE', `${path}/viw_nothing`, { user })).status, 404);
});

test('views end with the membership', async () => {
  const user = await service.member('editor');
  assert.equal((await service.call('POST', path, { user, body })).status, 201);
  const member = `/api/v1/members/${toId('user', user)}`;
  assert.equal((await service.call('DELETE', member, { user: service.ownerId })).status, 204);
  const { rows } = await sql`select from saved_views where user_id = ${user}`.execute(service.db);
  assert.equal(rows.length, 0);
});
