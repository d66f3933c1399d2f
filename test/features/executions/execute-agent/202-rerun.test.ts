import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended, run } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { toId, uuid7 } from '../../../../src/core/id.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);
const variables = { name: 'you' };

test('a record names the execution that it runs again, which can be found in both directions', async () => {
  const before = await run(service, agent, key);
  const { executionId: rerunOf } = before;
  assert.ok(!('rerunOf' in before));
  const path = `/api/agents/${agent.agentId}/execute`;
  const user = service.ownerId;
  const accepted = await service.call('POST', path, { user, body: { variables, rerunOf } });
  assert.equal(accepted.status, 202);
  const again = await ended(service, accepted.body.statusUrl, key);
  assert.equal(again.rerunOf, rerunOf);
  const list = `${agent.path}/executions?rerunOf=${rerunOf}`;
  const { body } = await service.call('GET', list, { key });
  assert.deepEqual([body.pagination.total, body.executions[0].executionId], [1, again.executionId]);
  assert.equal(body.executions[0].rerunOf, rerunOf);
  const deleted = `${agent.path}/executions/${rerunOf}`;
  assert.equal((await service.call('DELETE', deleted, { key })).status, 204);
  assert.equal((await service.call('GET', accepted.body.statusUrl, { key })).body.rerunOf, rerunOf);
});

test('it is shown while the execution is in progress, and by calls with a key', async () => {
  const { executionId: rerunOf } = await run(service, agent, key);
  const held = service.models.hold();
  const body = { variables, rerunOf };
  const accepted = await service.call('POST', `${agent.path}/execute`, { key, body });
  await held.arrived;
  const running = await service.call('GET', accepted.body.statusUrl, { key });
  assert.deepEqual([running.body.status, running.body.rerunOf], ['processing', rerunOf]);
  held.release();
  assert.equal((await ended(service, accepted.body.statusUrl, key)).rerunOf, rerunOf);
});

test('400 unless it is an execution of this agent, after the other checks', async () => {
  const other = await run(service, await addAgent(service), key);
  const unknown = toId('execution', uuid7(Date.now()));
  for (const rerunOf of [other.executionId, unknown, 'exe_nothing', 7, null]) {
    const body = { variables, rerunOf };
    const answer = await service.call('POST', `${agent.path}/execute`, { key, body });
    assert.equal(answer.status, 400, JSON.stringify(rerunOf));
    assert.match(answer.body.message, /"rerunOf" must be the identifier of an execution/);
  }
  const paused = await addAgent(service, { stage: 'Paused' });
  const body = { variables, rerunOf: 'exe_nothing' };
  const answer = await service.call('POST', `${paused.path}/execute`, { key, body });
  assert.deepEqual([answer.status, answer.body.code], [403, 'AGENT_NOT_ACTIVE']);
});
