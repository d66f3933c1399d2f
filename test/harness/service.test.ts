import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../harness/service.ts';
import { sql } from '../../src/db/sql.ts';

const service = await startService();
after(service.close);

test('a key authenticates, anything else does not', async () => {
  const { key } = await service.key();
  const path = '/api/v1/agents/agt_x/executions';
  assert.equal((await service.call('GET', path, { key })).status, 404);
  assert.equal((await service.call('GET', path, { user: service.ownerId })).status, 404);
  assert.equal((await service.call('GET', path)).status, 401);
});

test('a second service shares the database', async () => {
  const second = await startService({ sharedWith: service });
  const { rows } = await sql<{ n: number }>`select count(*) as n from workers`.execute(second.db);
  assert.deepEqual(rows, [{ n: 2 }]);
  await second.close();
});
