import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../../harness/created-workflows.ts';
import { freshId } from '../../../../harness/fresh-id.ts';
import { startService } from '../../../../harness/service.ts';
import { fromId, toId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/workflows';
const { key } = await service.key();
const [open, other] = [await addAgent(service), await addAgent(service)];
const hidden = await addAgent(service, { visibility: 'private' });
const first = await makeWorkflow(service, greeting(open.agentId), { name: 'First' });
const second = await makeWorkflow(service, greeting(other.agentId), { description: 'Tides' });
const secret = await makeWorkflow(service, greeting(hidden.agentId));

async function listed(caller: { key: string } | { user: string }, query = '') {
  const { body } = await service.call('GET', path + query, caller);
  const ids = body.workflows.map((one: { workflowId: string }) => one.workflowId);
  assert.equal(body.pagination.total, ids.length);
  return ids;
}

test('newest first, with a search', async () => {
  const all = [secret.workflowId, second.workflowId, first.workflowId];
  assert.deepEqual(await listed({ key }), all);
  assert.deepEqual(await listed({ key }, '?q=tide'), [second.workflowId]);
  assert.deepEqual(await listed({ key }, '?q=fir'), [first.workflowId]);
});

test('the workflow of a run', async () => {
  const body = { input: { name: 'Ada' } };
  const start = async ({ path }: { readonly path: string }) =>
    (await service.call('POST', `${path}/execute`, { key, body })).body.workflowRunId;
  const [run, hiddenRun] = [await start(first), await start(secret)];
  const user = await service.member('viewer');
  assert.deepEqual(await listed({ key }, `?workflowRunId=${run}`), [first.workflowId]);
  assert.deepEqual(await listed({ user }, `?workflowRunId=${run}`), [first.workflowId]);
  assert.deepEqual(await listed({ key }, `?workflowRunId=${run}&q=tides`), []);
  assert.deepEqual(await listed({ key }, `?workflowRunId=${hiddenRun}`), [secret.workflowId]);
  assert.deepEqual(await listed({ user }, `?workflowRunId=${hiddenRun}`), []);
  for (const none of ['wfr_x', toId('workflowRun', freshId())]) {
    assert.deepEqual(await listed({ key }, `?workflowRunId=${none}`), []);
  }
  const manager = await service.key({ permissions: ['manage'] });
  const refused = { key: manager.key };
  assert.equal((await service.call('GET', `${path}?workflowRunId=${run}`, refused)).status, 403);
  // A version that the caller does not see keeps its runs to itself.
  await sql`
    update workflow_runs set workflow_version_id = (
      select workflow_version_id from workflows where id = ${fromId('workflow', secret.workflowId)})
    where id = ${fromId('workflowRun', run)}`.execute(service.db);
  assert.deepEqual(await listed({ user }, `?workflowRunId=${run}`), []);
});

test('a workflow with a hidden agent is hidden', async () => {
  const user = await service.member('viewer');
  assert.deepEqual(await listed({ user }), [second.workflowId, first.workflowId]);
  const tied = await service.key({ agentIds: [open.agentId] });
  assert.deepEqual(await listed({ key: tied.key }), [first.workflowId]);
  for (const [caller, one] of [
    [{ user }, secret],
    [{ key: tied.key }, second],
  ] as const) {
    for (const below of ['', '/versions', '/pins', `/versions/${one.workflowVersionId}`]) {
      assert.equal((await service.call('GET', one.path + below, caller)).status, 404);
    }
  }
  const elsewhere = await service.workspace();
  const { workspaceId, ownerId: userId } = elsewhere;
  const foreign = await service.key({ workspaceId, userId });
  assert.deepEqual(await listed({ key: foreign.key }), []);
  assert.equal((await service.call('GET', first.path, { key: foreign.key })).status, 404);
});

test('deleting a private agent opens neither its workflow nor the runs, and owners can repair it', async () => {
  const user = await service.member('viewer');
  const body = { input: { name: 'Ada' } };
  const started = await service.call('POST', `${secret.path}/execute`, { key, body });
  const run = `${secret.path}/runs/${started.body.workflowRunId}`;
  await sql`update agents set stage = 'Testing', deleted_at = clock_timestamp() where id = ${hidden.id}`.execute(
    service.db,
  );
  const of = [
    secret.path,
    `${secret.path}/versions`,
    `${secret.path}/schedules`,
    `${secret.path}/runs`,
  ];
  const tied = await service.key({ agentIds: [open.agentId] });
  for (const path of [...of, run, `${run}?wait=1`]) {
    assert.equal((await service.call('GET', path, { user })).status, 404, path);
    assert.equal((await service.call('GET', path, { key: tied.key })).status, 404, path);
    assert.notEqual((await service.call('GET', path, { key })).status, 404, path);
  }
  const ids = async (caller: { key: string } | { user: string }) => {
    const { body: all } = await service.call('GET', `${path}?include=activity`, caller);
    return all.workflows.map(({ workflowId }: { workflowId: string }) => workflowId);
  };
  assert.ok(!(await ids({ user })).includes(secret.workflowId));
  assert.ok((await ids({ key })).includes(secret.workflowId));
});

test('deleting a workflow deletes its triggers', async () => {
  const gone = await makeWorkflow(service, greeting(open.agentId));
  assert.equal((await service.call('DELETE', gone.path, { key })).status, 204);
  assert.equal((await service.call('GET', gone.path, { key })).status, 404);
  assert.equal((await service.call('DELETE', gone.path, { key })).status, 404);
  assert.equal((await service.call('PATCH', gone.path, { key, body: {} })).status, 404);
});
