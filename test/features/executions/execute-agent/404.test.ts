import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { toId, uuid7 } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const body = { variables: { name: 'x' } };

test('an agent of another workspace returns 404 and counts towards no limit of it', async () => {
  const other = await service.workspace();
  const agent = await addAgent(service, {
    workspaceId: other.workspaceId,
    createdBy: other.ownerId,
  });
  assert.equal((await service.call('POST', `${agent.path}/execute`, { key, body })).status, 404);
  const { rows } = await sql<{ used: number }>`
    select day_used as used from limits where subject = ${agent.id}`.execute(service.db);
  assert.equal(rows[0]?.used, 0);
});

test('a deleted agent returns 404', async () => {
  const deleted = await addAgent(service, { stage: 'Paused' });
  await sql`update agents set deleted_at = clock_timestamp() where id = ${deleted.id}`.execute(
    service.db,
  );
  assert.equal((await service.call('POST', `${deleted.path}/execute`, { key, body })).status, 404);
});

test('404 also for a viewer, who gets 403 only for a visible agent', async () => {
  const user = await service.member('viewer');
  const { agentId } = await addAgent(service);
  const { agentId: hidden } = await addAgent(service, { visibility: 'private' });
  const requested = [toId('agent', uuid7(0)), 'nothing', hidden, agentId];
  const statuses = await Promise.all(
    requested.map(async (id) => {
      const path = `/api/agents/${id}/execute`;
      return (await service.call('POST', path, { user, body })).status;
    }),
  );
  assert.deepEqual(statuses, [404, 404, 404, 403]);
});
