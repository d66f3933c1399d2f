import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { alertSettings } from '../../../../harness/alerts.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const path = '/api/v1/alerts';

async function refused(settings: object, headers: { key?: string; user?: string } = { key }) {
  const body = { ...alertSettings, ...settings };
  const { status, body: problem } = await service.call('POST', path, { ...headers, body });
  return [status, problem.message];
}

test('thresholds must not contradict each other', async () => {
  assert.deepEqual(await refused({ threshold: 1, clearThreshold: 1.5 }), [
    400,
    'Field "clearThreshold" must not be above "threshold".',
  ]);
});

test('the quota is about the workspace', async () => {
  const { agentId } = await addAgent(service);
  for (const scope of [{ agentIds: [agentId] }, { tag: 'beta' }]) {
    const [status] = await refused({ metric: 'quotaUsed', ...scope });
    assert.equal(status, 400);
  }
});

test('an unknown agent and one of another workspace are not found', async () => {
  const { workspaceId, ownerId } = await service.workspace();
  const foreign = await addAgent({ ...service, workspaceId, ownerId });
  for (const agentId of ['agt_unknown', foreign.agentId]) {
    assert.deepEqual(await refused({ agentIds: [agentId] }), [404, 'There is no such agent.']);
  }
});

test('a workspace has at most a hundred alerts', async () => {
  const { workspaceId, ownerId: userId } = await service.workspace();
  const other = await service.key({ workspaceId, userId });
  await sql`
    insert into alerts (id, workspace_id, name, metric, threshold, clear_threshold, window_minutes, min_count, no_data)
    select gen_random_uuid(), ${workspaceId}, 'Alert', 'count', 10, 10, 5, 0, 'keep'
    from generate_series(1, 98)`.execute(service.db);
  const create = () => refused({}, { key: other.key });
  const all = await Promise.all(Array.from({ length: 5 }, create));
  const tooMany = [409, 'A workspace has at most 100 alerts.'];
  assert.deepEqual(
    all.filter(([status]) => status !== 201),
    [tooMany, tooMany, tooMany],
  );
});
