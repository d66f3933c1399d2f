import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../../harness/created-workflows.ts';
import { during } from '../../../../harness/locks.ts';
import { startService } from '../../../../harness/service.ts';
import { fromId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);
const two = (agentId: string) => {
  const [step] = greeting(agentId).steps;
  return { ...greeting(agentId), steps: [step, { ...step, name: 'again' }] };
};

test('changes name, description and switch; If-Match is checked', async () => {
  const { path } = await makeWorkflow(service, greeting(agent.agentId));
  const body = { name: 'Other', description: 'D', enabled: false };
  const changed = await service.call('PATCH', path, { key, body, headers: { 'if-match': '"1"' } });
  assert.equal(changed.status, 200);
  assert.deepEqual({ ...changed.body, ...body }, changed.body);
  assert.equal(changed.headers.get('etag'), '"2"');
  const same = await service.call('PATCH', path, { key, body });
  assert.equal(same.headers.get('etag'), '"2"');
  const stale = await service.call('PATCH', path, { key, body, headers: { 'if-match': '"1"' } });
  assert.equal(stale.status, 412);
});

test('versions can be pinned again, and the pins list them', async () => {
  const { path, workflowVersionId } = await makeWorkflow(service, greeting(agent.agentId));
  const body = { label: 'twice', notes: 'N', definition: two(agent.agentId) };
  const added = await service.call('POST', `${path}/versions`, { key, body });
  assert.deepEqual(
    [added.status, added.body.number, added.body.stepCount, added.body.notes],
    [201, 2, 2, 'N'],
  );
  assert.equal((await service.call('GET', path, { key })).body.number, 1);
  const pin = (id: string) => service.call('PATCH', path, { key, body: { workflowVersionId: id } });
  const pinned = await pin(added.body.workflowVersionId);
  assert.deepEqual(
    [pinned.body.number, pinned.body.workflowVersionLabel, pinned.body.definition.steps.length],
    [2, 'twice', 2],
  );
  await pin(workflowVersionId);
  const { pins } = (await service.call('GET', `${path}/pins`, { key })).body;
  assert.deepEqual(
    pins.map((one: { number: number }) => one.number),
    [1, 2, 1],
  );
  const { versions } = (await service.call('GET', `${path}/versions`, { key })).body;
  assert.deepEqual(
    versions.map((one: { workflowVersionLabel: string }) => one.workflowVersionLabel),
    ['twice', 'v1'],
  );
  const read = await service.call('GET', added.headers.get('location') ?? '', { key });
  assert.deepEqual(read.body, added.body);
  const taken = await service.call('POST', `${path}/versions`, { key, body });
  assert.equal(taken.status, 409);
});

test('a version without a label gets a free one', async () => {
  const { path } = await makeWorkflow(service, greeting(agent.agentId));
  const add = async (label?: string) => {
    const body = { definition: two(agent.agentId), ...(label !== undefined && { label }) };
    const made = await service.call('POST', `${path}/versions`, { key, body });
    assert.equal(made.status, 201);
    return made.body.workflowVersionLabel;
  };
  for (const label of ['v4', 'v4-2']) await add(label);
  assert.equal(await add(), 'v4-3');
  assert.equal(await add(), 'v5');
});

test('a version that is no longer valid cannot be pinned; a taken name is rejected', async () => {
  const leaving = await addAgent(service);
  const { path, workflowVersionId } = await makeWorkflow(service, greeting(leaving.agentId));
  const version = { key, body: { definition: greeting(agent.agentId) } };
  const added = await service.call('POST', `${path}/versions`, version);
  await service.call('PATCH', path, {
    key,
    body: { workflowVersionId: added.body.workflowVersionId },
  });
  await sql`update agents set stage = 'Paused', api_enabled = false where id = ${leaving.id}`.execute(
    service.db,
  );
  const back = await service.call('PATCH', path, { key, body: { workflowVersionId } });
  assert.deepEqual([back.status, back.body.code], [400, 'INVALID_WORKFLOW']);
  const none = { workflowVersionId: 'wfv_none' };
  assert.equal((await service.call('PATCH', path, { key, body: none })).status, 404);
  await makeWorkflow(service, greeting(agent.agentId), { name: 'Mine' });
  const refused = await service.call('PATCH', path, { key, body: { name: 'Mine' } });
  assert.equal(refused.status, 409);
});

test('one of two concurrent renames to the same name succeeds', async () => {
  const first = await makeWorkflow(service, greeting(agent.agentId));
  const second = await makeWorkflow(service, greeting(agent.agentId));
  const refused = await during(
    service.db,
    (trx) =>
      sql`update workflows set name = 'Wanted' where id = ${fromId('workflow', first.workflowId)}`.execute(
        trx,
      ),
    () => service.call('PATCH', second.path, { key, body: { name: 'Wanted' } }),
  );
  assert.deepEqual([refused.status, refused.body.code], [409, 'CONFLICT']);
  assert.match(refused.body.message, /"Wanted"/);
});
