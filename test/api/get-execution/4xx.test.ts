import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, run } from '../../../harness/agents.ts';
import { startService } from '../../../harness/service.ts';
import { toId, uuid7 } from '../../../src/core/id.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);
const { executionId } = await run(service, agent, key);
const path = `${agent.path}/executions/${executionId}`;

for (const wait of ['-1', '61', '1.5', 'soon', '']) {
  test(`400 for wait=${wait}`, async () => {
    const { status, body } = await service.call('GET', `${path}?wait=${wait}`, { key });
    assert.equal(status, 400);
    assert.match(body.message, /wait.*0 to 60/);
  });
}

test('401 without a valid key', async () => {
  assert.equal((await service.call('GET', path)).status, 401);
  const { key: revoked } = await service.key({ revokedAt: new Date(0) });
  assert.equal((await service.call('GET', path, { key: revoked })).status, 401);
});

test('403 for a key with neither read nor execute', async () => {
  const { key: other } = await service.key({ permissions: ['cancel'] });
  assert.equal((await service.call('GET', path, { key: other })).status, 403);
});

test('404 for an execution that is unknown, of another agent, or not accessible', async () => {
  const other = await addAgent(service);
  const { key: own } = await service.key({ permissions: ['execute'] });
  const { key: tied } = await service.key({ agentIds: [other.agentId] });
  const elsewhere = await service.workspace();
  const { key: stranger } = await service.key({
    userId: elsewhere.ownerId,
    workspaceId: elsewhere.workspaceId,
  });
  const requested: [string, string][] = [
    [`${agent.path}/executions/nothing`, key],
    [`${agent.path}/executions/${toId('execution', uuid7(0))}`, key],
    [`${other.path}/executions/${executionId}`, key],
    [path, own],
    [path, tied],
    [path, stranger],
  ];
  for (const [url, caller] of requested) {
    const { status, body } = await service.call('GET', url, { key: caller });
    assert.equal(status, 404, url);
    assert.equal(body.code, 'NOT_FOUND');
  }
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
