import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { noLimits } from '../../../../src/core/agent/limits.ts';

const service = await startService();
after(service.close);
const { key } = await service.key({ rateLimits: noLimits });

async function move(path: string, action: string) {
  const response = await service.call('POST', `${path}/lifecycle`, { key, body: { action } });
  assert.equal(response.status, 200, JSON.stringify(response.body));
  return response;
}

/** The status of an execute request. */
async function execute(path: string): Promise<number> {
  const call = { key, body: { variables: { name: 'x' } } };
  return (await service.call('POST', `${path}/execute`, call)).status;
}

test('an agent passes all stages, and each stage sets its API switch', async () => {
  const { path } = await addAgent(service, { stage: 'Draft' });
  assert.equal(await execute(path), 403);
  const way: [action: string, status: string, apiEnabled: boolean, allowed: string[]][] = [
    ['enable-api', 'Testing', true, ['deploy', 'archive']],
    ['deploy', 'Deployed', true, ['rollback', 'disable']],
    ['rollback', 'Testing', true, ['deploy', 'archive']],
    ['deploy', 'Deployed', true, ['rollback', 'disable']],
    ['disable', 'Paused', false, ['re-enable', 'archive']],
    ['re-enable', 'Deployed', true, ['rollback', 'disable']],
  ];
  for (const [step, [action, status, apiEnabled, allowed]] of way.entries()) {
    const { body, headers } = await move(path, action);
    assert.deepEqual([body.status, body.apiEnabled, body.archived], [status, apiEnabled, false]);
    assert.deepEqual(body.allowedActions, allowed);
    assert.equal(headers.get('etag'), `"${step + 2}"`);
    assert.deepEqual((await service.call('GET', path, { key })).body, body);
    assert.equal(await execute(path), apiEnabled ? 202 : 403);
  }
});

for (const stage of ['Draft', 'Testing', 'Paused'] as const) {
  test(`archived from ${stage} it rejects executions, and a restore returns it to its state`, async () => {
    const { path } = await addAgent(service, { stage });
    const before = (await service.call('GET', path, { key })).body;
    const archived = (await move(path, 'archive')).body;
    assert.deepEqual(
      [archived.status, archived.archived, archived.apiEnabled, archived.allowedActions],
      [stage, true, false, ['restore']],
    );
    assert.equal(await execute(path), 403);
    const { updatedAt, ...restored } = (await move(path, 'restore')).body;
    assert.deepEqual({ ...restored, updatedAt: before.updatedAt }, before);
    assert.equal(await execute(path), stage === 'Testing' ? 202 : 403);
  });
}

test('a switched-off API stays off through the archive, until the next stage sets it', async () => {
  const { path } = await addAgent(service, { stage: 'Testing', apiEnabled: false });
  await move(path, 'archive');
  assert.equal((await move(path, 'restore')).body.apiEnabled, false);
  assert.equal((await move(path, 'deploy')).body.apiEnabled, true);
});

test('one of many concurrent stage changes succeeds', async () => {
  const { path } = await addAgent(service, { stage: 'Testing' });
  const responses = await Promise.all(
    Array.from({ length: 8 }, () =>
      service.call('POST', `${path}/lifecycle`, { key, body: { action: 'deploy' } }),
    ),
  );
  const statuses = responses.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [200, ...Array(7).fill(409)]);
});

test('after the response to a pause, no execution is accepted', async () => {
  const { path } = await addAgent(service);
  let paused = false;
  const late: number[] = [];
  const callers = Array.from({ length: 4 }, async () => {
    while (!paused) await execute(path);
    late.push(await execute(path));
  });
  await move(path, 'disable');
  paused = true;
  await Promise.all(callers);
  assert.deepEqual(late, [403, 403, 403, 403]);
});

test('a key that is limited to an agent changes its stage', async () => {
  const { path, agentId } = await addAgent(service, { stage: 'Draft' });
  const tied = await service.key({ agentIds: [agentId], permissions: ['manage'] });
  const call = { key: tied.key, body: { action: 'enable-api' } };
  assert.equal((await service.call('POST', `${path}/lifecycle`, call)).status, 200);
});

test('disable can cancel running and waiting executions before it responds', async () => {
  const agent = await addAgent(service, { config: { maxConcurrency: 2 } });
  const other = await addAgent(service);
  const heldCalls = [service.models.hold(), service.models.hold(), service.models.hold()];
  const start = async (path: string) => {
    const call = { key, body: { variables: { name: 'x' } } };
    return String((await service.call('POST', `${path}/execute`, call)).body.statusUrl);
  };
  const urls = [await start(agent.path), await start(agent.path), await start(agent.path)];
  const untouched = await start(other.path);
  const body = { action: 'disable', cancelRunning: true };
  const response = await service.call('POST', `${agent.path}/lifecycle`, { key, body });
  assert.deepEqual([response.status, response.body.status], [200, 'Paused']);
  for (const url of urls) {
    assert.equal((await service.call('GET', url, { key })).body.status, 'canceled');
  }
  assert.equal((await service.call('GET', untouched, { key })).body.status, 'processing');
  for (const held of heldCalls) held.release();
});

test('only disable cancels', async () => {
  const { path } = await addAgent(service, { stage: 'Testing' });
  const body = { action: 'deploy', cancelRunning: true };
  const response = await service.call('POST', `${path}/lifecycle`, { key, body });
  assert.equal(response.status, 400);
  assert.match(response.body.message, /"cancelRunning"/);
  assert.equal((await service.call('GET', path, { key })).body.status, 'Testing');
});
