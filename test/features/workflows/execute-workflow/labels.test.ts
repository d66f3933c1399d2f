import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../../harness/created-workflows.ts';
import { startService } from '../../../../harness/service.ts';
import { fromId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);
const workflow = await makeWorkflow(service, greeting(agent.agentId));

const input = { name: 'you' };
const labels = {
  user: 'customer-1',
  session: 'chat-1',
  tags: ['beta', 'night'],
  metadata: { plan: 'pro', __proto_: 'x' },
};

function start(body: object, headers = {}, as = key) {
  return service.call('POST', `${workflow.path}/execute`, { key: as, body, headers });
}

function labelsOf({ user, session, tags, metadata }: Record<string, unknown>) {
  return { user, session, tags, metadata };
}

async function ended(statusUrl: string, as = key) {
  for (;;) {
    const { body } = await service.call('GET', `${statusUrl}?wait=20`, { key: as });
    if (body.status !== 'processing') return body;
  }
}

test('the executions of the steps inherit the labels of the workflow run', async () => {
  const { body } = await start({ input, ...labels });
  const run = await ended(body.statusUrl);
  assert.equal(run.status, 'success');
  assert.deepEqual(labelsOf(run), labels);
  const path = `${agent.path}/executions/${run.steps[0].executionId}`;
  assert.deepEqual(labelsOf((await service.call('GET', path, { key })).body), labels);
});

test('a key without read does not see them', async () => {
  const own = await service.key({ permissions: ['execute'] });
  const { body } = await start({ input, ...labels }, {}, own.key);
  const run = await ended(body.statusUrl, own.key);
  assert.deepEqual(Object.values(labelsOf(run)), [undefined, undefined, undefined, undefined]);
});

test('an idempotency key compares them', async () => {
  const headers = { 'idempotency-key': 'labels' };
  const first = await start({ input, ...labels }, headers);
  const again = await start({ ...labels, input }, headers);
  assert.equal(again.body.workflowRunId, first.body.workflowRunId);
  const other = await start({ input, ...labels, user: 'customer-2' }, headers);
  assert.deepEqual([other.status, other.body.code], [422, 'IDEMPOTENCY_KEY_REUSED']);
});

test('rejects labels that are too long or cannot be stored', async () => {
  for (const wrong of [
    { user: 'u'.repeat(129) },
    { session: '\0' },
    { tags: [''] },
    { metadata: { n: 1 } },
  ]) {
    const { status, body } = await start({ input, ...wrong });
    assert.deepEqual([status, body.code], [400, 'INVALID_REQUEST']);
  }
});

test('a schedule has labels, and its workflow runs get them', async () => {
  const path = `${workflow.path}/schedules`;
  const made = await service.call('POST', path, {
    key,
    body: { cron: '0 0 1 1 *', input, ...labels },
  });
  assert.equal(made.status, 201);
  assert.deepEqual(labelsOf(made.body), labels);
  const one = `${path}/${made.body.scheduleId}`;
  const patched = await service.call('PATCH', one, { key, body: { user: null, tags: ['day'] } });
  const changed = { ...labels, user: undefined, tags: ['day'] };
  assert.deepEqual(labelsOf(patched.body), changed);
  const { body: read } = await service.call('GET', one, { key });
  assert.deepEqual(labelsOf(read), changed);
  const id = fromId('schedule', made.body.scheduleId);
  await sql`update workflow_schedules set next_at = clock_timestamp() where id = ${id}`.execute(
    service.db,
  );
  for (;;) {
    const { body } = await service.call('GET', `${workflow.path}/runs?trigger=schedule`, { key });
    if (body.runs.length === 0) continue;
    assert.deepEqual(labelsOf(body.runs[0]), changed);
    const run = await ended(`${workflow.path}/runs/${body.runs[0].workflowRunId}`);
    assert.equal(run.status, 'success');
    break;
  }
});

test('a schedule rejects labels that are too long or cannot be stored', async () => {
  for (const wrong of [
    { user: 'u'.repeat(129) },
    { session: '\0' },
    { tags: ['x'.repeat(65)] },
    { tags: Array.from({ length: 11 }, (_, n) => `t${n}`) },
    { metadata: { ['n'.repeat(65)]: 'x' } },
    { metadata: { n: 'x'.repeat(513) } },
  ]) {
    const body = { cron: '0 0 1 1 *', input, ...wrong };
    const { status } = await service.call('POST', `${workflow.path}/schedules`, { key, body });
    assert.equal(status, 400, JSON.stringify(wrong).slice(0, 40));
  }
});
