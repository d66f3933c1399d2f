import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended, run } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { call, models } = service;
const { key } = await service.key();

test('409 while the execution is processing', async () => {
  const agent = await addAgent(service);
  const heldCall = models.hold();
  const { body } = await call('POST', `${agent.path}/execute`, {
    ...{ key, body: { variables: { name: 'you' } } },
  });
  await heldCall.arrived;
  const path = `${agent.path}/executions/${body.executionId}`;
  const refused = await call('DELETE', path, { key });
  assert.equal(refused.status, 409);
  assert.equal(refused.body.code, 'CONFLICT');
  heldCall.release();
  assert.equal((await ended(service, body.statusUrl, key)).status, 'success');
  assert.equal((await call('DELETE', path, { key })).status, 204);
});

test('404 for an execution of another agent, which stays', async () => {
  const [agent, other] = [await addAgent(service), await addAgent(service)];
  const { executionId } = await run(service, agent, key);
  const path = `${other.path}/executions/${executionId}`;
  assert.equal((await call('DELETE', path, { key })).status, 404);
  assert.equal((await call('GET', `${agent.path}/executions/${executionId}`, { key })).status, 200);
});
