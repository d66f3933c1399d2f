import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { addAgent } from '../harness/agents.ts';
import { makeRound } from '../harness/rounds.ts';
import { startService } from '../harness/service.ts';
import { addWorkflow, endOfRun, startRun, step } from '../harness/workflow-runs.ts';

const service = await startService();
after(service.close);
const { db, call } = service;
const { key } = await service.key();
const user = await service.member('owner');
const agent = await addAgent(service, { user: '{{text}}' });
const round = () => makeRound(db, service.database);
const workflow = await addWorkflow(service, {
  steps: [
    step({ name: 'a', agent, variables: { text: '{{input.text}}', customer: '{{input.named}}' } }),
  ],
});

async function ended(input: object): Promise<string> {
  const runId = await startRun(service, workflow, key, { text: 'x', ...input });
  await endOfRun(service, workflow, runId);
  return runId;
}

async function left(ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from workflow_runs where id = any (${ids}::uuid[])`.execute(db);
  return ids.filter((id) => rows.some((row) => row.id === id));
}

async function erase(value: string, agentId?: string) {
  const body = { variable: 'customer', value, ...(agentId && { agentId }) };
  const accepted = await call('POST', '/api/v1/erasures', { user, body });
  assert.equal(accepted.status, 202);
  await round();
  return async () =>
    (await call('GET', `/api/v1/erasures/${accepted.body.erasureId}`, { user })).body;
}

test('runs older than the workspace keeps executions go with their steps', async () => {
  const [old, young] = [await ended({}), await ended({})];
  const oldId = `00000000-0001-7000-8000-${old.slice(24)}`;
  await sql`
    with gone as (delete from workflow_steps where run_id = ${old})
    update workflow_runs set id = ${oldId} where id = ${old}`.execute(db);
  await sql`insert into workflow_steps (run_id, step, status) values (${oldId}, 'a', 'success')`.execute(
    db,
  );
  await round();
  assert.deepEqual(await left([oldId, young]), [young]);
  const { rows } = await sql`select from workflow_steps where run_id = ${oldId}`.execute(db);
  assert.equal(rows.length, 0);
});

test('an erasure takes the runs whose input names the end user, and those whose step does', async () => {
  const byInput = await ended({ customer: '42' });
  const nested = await ended({ customer: { id: 7, a: [1] } });
  const byStep = await ended({ named: '42' });
  const other = await ended({ customer: '43', named: '43' });
  const state = await erase('42');
  assert.equal((await state()).status, 'completed');
  assert.deepEqual(await left([byInput, nested, byStep, other]), [nested, other]);
  await erase('{"id":7,"a":[1]}');
  assert.deepEqual(await left([nested, other]), [other]);
});

test('an erasure of one agent takes the runs whose step it takes, not those by their input', async () => {
  const byInput = await ended({ customer: '50' });
  const byStep = await ended({ named: '50' });
  await erase('50', agent.agentId);
  assert.deepEqual(await left([byInput, byStep]), [byInput]);
});

test('an erasure waits for a run that has not ended', async () => {
  const held = service.models.hold();
  const runId = await startRun(service, workflow, key, { text: 'held', customer: '60' });
  await held.arrived;
  const state = await erase('60');
  assert.equal((await state()).status, 'processing');
  held.release({ text: 'done' });
  await endOfRun(service, workflow, runId);
  await round();
  assert.equal((await state()).status, 'completed');
  assert.deepEqual(await left([runId]), []);
});

test('the record of a step stays as long as its run is under way', async () => {
  const two = await addWorkflow(service, {
    steps: [
      step({ name: 'a', agent, variables: { text: 'first', customer: '70' } }),
      step({ name: 'b', agent, variables: { text: '{{steps.a.output}} second' } }),
    ],
  });
  service.models.script({ text: 'first' });
  const held = service.models.hold();
  const runId = await startRun(service, two, key);
  await held.arrived;
  const state = await erase('70');
  assert.equal((await state()).status, 'processing');
  held.release({ text: 'done' });
  await endOfRun(service, two, runId);
  await round();
  assert.equal((await state()).status, 'completed');
  assert.deepEqual(await left([runId]), []);
});
