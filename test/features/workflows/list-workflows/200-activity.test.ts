import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../../harness/created-workflows.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key({ rateLimits: { requestsPerMinute: null } });
const agent = await addAgent(service);
const hidden = await addAgent(service, { visibility: 'private' });
const made = await makeWorkflow(service, greeting(agent.agentId));
const path = '/api/v1/workflows?include=activity';

async function activity(caller: { key: string } | { user: string } = { key }) {
  const { status, body } = await service.call('GET', path, caller);
  assert.equal(status, 200);
  const found = body.workflows.find(
    ({ workflowId }: { workflowId: string }) => workflowId === made.workflowId,
  );
  return { lastRuns: found.lastRuns, nextAt: found.nextAt };
}

async function start(): Promise<string> {
  const { body } = await service.call('POST', `${made.path}/execute`, {
    key,
    body: { input: { name: 'Ada' } },
  });
  await service.call('GET', `${body.statusUrl}?wait=30`, { key });
  return body.workflowRunId;
}

test('include=activity shows an empty activity for a workflow without runs and schedules', async () => {
  assert.deepEqual(await activity(), { lastRuns: [], nextAt: null });
  const { body } = await service.call('GET', '/api/v1/workflows', { key });
  assert.ok(!('lastRuns' in body.workflows[0]) && !('nextAt' in body.workflows[0]));
});

test('shows the five newest runs with their status', async () => {
  const ids = [];
  for (let round = 0; round < 6; round++) ids.unshift(await start());
  const { lastRuns } = await activity();
  const shown = lastRuns.map((run: { workflowRunId: string; status: string }) => [
    run.workflowRunId,
    run.status,
  ]);
  assert.deepEqual(
    shown,
    ids.slice(0, 5).map((id) => [id, 'success']),
  );
  const { body } = await service.call('GET', `${made.path}/runs?limit=1`, { key });
  assert.equal(lastRuns[0].executedAt, body.runs[0].executedAt);
});

test('shows the earliest time of its schedules while the workflow is enabled', async () => {
  const times = [];
  for (const cron of ['0 0 1 1 *', '0 0 2 1 *']) {
    const body = { cron, input: { name: 'Ada' } };
    const response = await service.call('POST', `${made.path}/schedules`, { key, body });
    times.push(response.body.nextTimes[0]);
  }
  assert.equal((await activity()).nextAt, times.sort()[0]);
  await service.call('PATCH', made.path, { key, body: { enabled: false } });
  assert.equal((await activity()).nextAt, null);
});

test('omits runs of versions with a hidden agent', async () => {
  const ofVersion = async (agentId: string) => {
    const body = { definition: greeting(agentId) };
    const version = await service.call('POST', `${made.path}/versions`, { key, body });
    const { workflowVersionId } = version.body;
    await service.call('PATCH', made.path, { key, body: { workflowVersionId, enabled: true } });
  };
  await ofVersion(hidden.agentId);
  const secret = await start();
  await ofVersion(agent.agentId);
  const seen = async (caller: { key: string } | { user: string }) =>
    (await activity(caller)).lastRuns.map((run: { workflowRunId: string }) => run.workflowRunId);
  assert.ok((await seen({ key })).includes(secret));
  const user = await service.member('viewer');
  assert.ok(!(await seen({ user })).includes(secret));
  assert.equal((await seen({ user })).length, 5);
});

test('403 for a key with manage but without read', async () => {
  const { key: manages } = await service.key({ permissions: ['manage'] });
  const { status, body } = await service.call('GET', path, { key: manages });
  assert.deepEqual([status, body.code], [403, 'PERMISSION_DENIED']);
  assert.equal((await service.call('GET', '/api/v1/workflows', { key: manages })).status, 200);
});
