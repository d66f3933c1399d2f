import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, run } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { toId, uuid7 } from '../../../../src/core/id.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);
const { executionId } = await run(service, agent, key);

test('404 for an execution of another agent', async () => {
  const other = await addAgent(service);
  const { status } = await service.call('GET', `${other.path}/executions/${executionId}`, { key });
  assert.equal(status, 404);
});

test('CORS allows the agent’s origin to read the response, also a 404', async () => {
  const origin = 'https://app.example.com';
  const open = await addAgent(service, { allowedOrigins: [origin] });
  const { executionId: ended } = await run(service, open, key);
  for (const [name, status] of [
    [ended, 200],
    [`${ended}?wait=1`, 200],
    [toId('execution', uuid7(0)), 404],
    ['nothing', 404],
  ] as const) {
    const url = `${open.path}/executions/${name}`;
    const response = await service.call('GET', url, { key, headers: { origin } });
    assert.equal(response.status, status, name);
    assert.equal(response.headers.get('access-control-allow-origin'), origin, name);
  }
});
