import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { addAgent, run } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();

for (const stage of ['Testing', 'Paused'] as const) {
  test(`deletes an agent in ${stage}; every request then returns 404`, async () => {
    const { path, agentId } = await addAgent(service, { stage });
    const tied = await service.key({ agentIds: [agentId] });
    const gone = await service.call('DELETE', path, { key });
    assert.deepEqual([gone.status, gone.body], [204, null]);
    const calls: [method: string, path: string, body?: object][] = [
      ['GET', path],
      ['PATCH', path, { agentName: 'B' }],
      ['DELETE', path],
      ['POST', `${path}/lifecycle`, { action: 'archive' }],
      ['GET', `${path}/pins`],
      ['GET', `${path}/executions`],
      ['POST', `${path}/execute`, { variables: { name: 'x' } }],
    ];
    for (const caller of [key, tied.key]) {
      for (const [method, at, body] of calls) {
        const sent = body ? { key: caller, body } : { key: caller };
        assert.equal((await service.call(method, at, sent)).status, 404, `${method} ${at}`);
      }
      const { body } = await service.call('GET', '/api/v1/agents', { key: caller });
      assert.equal(
        body.agents.some((agent: { agentId: string }) => agent.agentId === agentId),
        false,
      );
    }
  });
}

test('an archived agent can be deleted', async () => {
  const { path } = await addAgent(service, { stage: 'Testing', archived: true });
  assert.equal((await service.call('DELETE', path, { key })).status, 204);
});

test('its records remain, and accepted executions complete', async () => {
  const agent = await addAgent(service, { stage: 'Testing', config: { maxConcurrency: 1 } });
  await run(service, agent, key);
  const heldCalls = [service.models.hold(), service.models.hold()];
  for (const _ of heldCalls) {
    const call = { key, body: { variables: { name: 'x' } } };
    assert.equal((await service.call('POST', `${agent.path}/execute`, call)).status, 202);
  }
  await heldCalls[0]?.arrived;
  assert.equal((await service.call('DELETE', agent.path, { key })).status, 204);
  heldCalls[0]?.release();
  await heldCalls[1]?.arrived;
  heldCalls[1]?.release();
  const statuses = async () => {
    const { rows } = await sql<{ status: string }>`
      select status::text as status from all_executions where agent_id = ${agent.id}`.execute(
      service.db,
    );
    return rows.map((row) => row.status);
  };
  while ((await statuses()).includes('processing')) await delay(20);
  assert.deepEqual(await statuses(), ['success', 'success', 'success']);
});

test('one of many concurrent deletions succeeds', async () => {
  const { path } = await addAgent(service, { stage: 'Paused' });
  const responses = await Promise.all(
    Array.from({ length: 5 }, () => service.call('DELETE', path, { key })),
  );
  assert.deepEqual(responses.map(({ status }) => status).sort(), [204, 404, 404, 404, 404]);
});

test('a key that is limited to an agent deletes it', async () => {
  const { path, agentId } = await addAgent(service, { stage: 'Testing' });
  const tied = await service.key({ agentIds: [agentId], permissions: ['manage'] });
  assert.equal((await service.call('DELETE', path, { key: tied.key })).status, 204);
});
