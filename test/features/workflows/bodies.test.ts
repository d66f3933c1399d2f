import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { addAgent, type TestAgent } from '../../../harness/agents.ts';
import { runRetentionRound } from '../../../harness/retention-round.ts';
import { startService } from '../../../harness/service.ts';
import {
  addWorkflow,
  endOfRun,
  startCall,
  startRun,
  step,
  type TestWorkflow,
} from '../../../harness/workflow-runs.ts';
import { toId } from '../../../src/core/id.ts';
import { ModelFailure, noCost, noUsage } from '../../../src/core/model/model-port.ts';
import { sql } from '../../../src/db/sql.ts';

/** The retention of workflow runs and their bodies: the shortest one of their agents. */

const service = await startService();
after(service.close);
const { db, call, models } = service;
const { key } = await service.key();
const round = () => runRetentionRound(db, service.database);

const user = '{{text}}';
const keeping = await addAgent(service, { user });

async function bare(): Promise<TestAgent> {
  const agent = await addAgent(service, { user });
  await setBodies(agent, false);
  return agent;
}

const setBodies = (agent: TestAgent, stored: boolean) =>
  sql`update agents set store_bodies = ${stored} where id = ${agent.id}`.execute(db);

function chain(first: TestAgent, second: TestAgent, more: object = {}): Promise<TestWorkflow> {
  return addWorkflow(service, {
    steps: [
      step({ name: 'a', agent: first, variables: { text: '{{input.text}}' } }),
      step({ name: 'b', agent: second, variables: { text: '{{steps.a.output}}' }, ...more }),
    ],
  });
}

async function read({ workflowId }: TestWorkflow, runId: string) {
  const path = `/api/v1/workflows/${workflowId}/runs/${toId('workflowRun', runId)}`;
  const { status, body } = await call('GET', path, { key });
  return { status, body };
}

/** Everything in the database about a workflow run. */
async function textOf(runId: string): Promise<string> {
  const { rows } = await sql<{ text: string }>`
    select r::text || coalesce((select string_agg(s::text, '') from workflow_steps s where s.run_id = r.id), '') as text
    from workflow_runs r where r.id = ${runId}`.execute(db);
  return rows[0]?.text ?? 'gone';
}

const later = (runId: string) =>
  sql`update workflow_runs set completed_at = completed_at - interval '15 minutes' where id = ${runId}`.execute(
    db,
  );

async function aged(workflow: TestWorkflow, days: number): Promise<string> {
  const runId = await startRun(service, workflow, key, { text: 'x' });
  await endOfRun(service, workflow, runId);
  const { rows } = await sql<{ id: string }>`
    with gone as (delete from workflow_steps where run_id = ${runId})
    update workflow_runs
    set id = (left(id_floor(clock_timestamp() - ${days} * interval '1 day')::text, 14) || substr(id::text, 15))::uuid
    where id = ${runId} returning id`.execute(db);
  return rows[0]?.id ?? '';
}

const keep = (agent: TestAgent, { records = null, bodies = null }: Record<string, number | null>) =>
  sql`update agents set records_days = ${records}, bodies_days = ${bodies} where id = ${agent.id}`.execute(
    db,
  );

const broken = new ModelFailure('PROVIDER_ERROR', 'Broken.', {
  retryable: false,
  usage: noUsage,
  cost: noCost,
});

/** A workflow run whose agents store bodies, until one of them stops to do so before its call. */
async function calledBare() {
  const agent = await addAgent(service, { user });
  const workflow = await chain(keeping, agent);
  const first = models.hold();
  const runId = await startRun(service, workflow, key, { text: 'secret' });
  await first.arrived;
  await setBodies(agent, false);
  const held = models.hold();
  first.release({ text: 'x' });
  await held.arrived;
  return { workflow, runId, held };
}

/** Waits until no execution of an aborted workflow run is live. */
async function stopped(runId: string): Promise<void> {
  for (;;) {
    const { rows } = await sql`
      select from workflow_steps where run_id = ${runId} and status = 'canceling'`.execute(db);
    if (rows.length === 0) return;
    await wait(20);
  }
}

test('if an agent stores no bodies, the input is removed at the end, the output 15 minutes later', async () => {
  const workflow = await chain(keeping, await bare());
  const held = models.hold();
  const runId = await startRun(service, workflow, key, { text: 'secret' });
  await held.arrived;
  assert.deepEqual((await read(workflow, runId)).body.input, { text: 'secret' });
  models.script({ text: 'also secret' });
  held.release({ text: 'whatever' });
  await endOfRun(service, workflow, runId);
  const { body } = await read(workflow, runId);
  assert.equal(body.status, 'success');
  assert.ok(!('input' in body));
  assert.equal(body.output, 'also secret');
  await round();
  assert.equal((await read(workflow, runId)).body.output, 'also secret');
  await later(runId);
  await round();
  const { body: bareBody } = await read(workflow, runId);
  assert.equal(bareBody.status, 'success');
  assert.ok(!('input' in bareBody) && !('output' in bareBody));
  assert.equal(bareBody.steps.length, 2);
  assert.ok(!(await textOf(runId)).includes('secret'));
});

test('the same holds for fallback agents and failed workflow runs', async () => {
  const fallback = { agentId: (await bare()).agentId, variables: { text: 'x' } };
  const workflow = await chain(keeping, keeping, { fallback, when: "input.text == 'other'" });
  const runId = await startRun(service, workflow, key, { text: 'secret' });
  const { run } = await endOfRun(service, workflow, runId);
  assert.equal(run.status, 'success');
  assert.equal(run.input, null);
  const failing = await addWorkflow(service, {
    steps: [
      step({ name: 'a', agent: await bare(), forEach: { list: 'none' }, variables: { text: 'x' } }),
    ],
  });
  const failedId = await startRun(service, failing, key, { text: 'secret' });
  assert.equal((await endOfRun(service, failing, failedId)).run.status, 'failed');
  assert.ok(!(await textOf(failedId)).includes('secret'));
});

test('a workflow run follows the setting at its start', async () => {
  const agent = await bare();
  const workflow = await chain(keeping, agent);
  const held = models.hold();
  const runId = await startRun(service, workflow, key, { text: 'secret' });
  await held.arrived;
  await setBodies(agent, true);
  held.release({ text: 'x' });
  assert.equal((await endOfRun(service, workflow, runId)).run.input, null);
  const nextId = await startRun(service, workflow, key, { text: 'kept' });
  assert.equal((await endOfRun(service, workflow, nextId)).run.input, '{"text":"kept"}');
});

test('a workflow run follows the setting at the call of a step', async () => {
  const agent = await addAgent(service, { user });
  const workflow = await chain(keeping, agent);
  const held = models.hold();
  const runId = await startRun(service, workflow, key, { text: 'secret' });
  await held.arrived;
  await setBodies(agent, false);
  models.script({ text: 'also secret' });
  held.release({ text: 'x' });
  const { run } = await endOfRun(service, workflow, runId);
  assert.equal(run.input, null);
  await later(runId);
  await round();
  assert.ok(!(await textOf(runId)).includes('secret'));
});

test('the same holds if the call of the step fails', async () => {
  const { workflow, runId, held } = await calledBare();
  held.release(broken);
  const { run } = await endOfRun(service, workflow, runId);
  assert.equal(run.status, 'failed');
  assert.equal(run.input, null);
  assert.ok(!(await textOf(runId)).includes('secret'));
});

test('the same holds if the workflow run ends during the call', async () => {
  const canceled = await calledBare();
  await service.workflows.workflowCanceler.cancel(canceled.runId);
  const late = await calledBare();
  await sql`update workflow_runs set deadline_at = clock_timestamp() where id = ${late.runId}`.execute(
    db,
  );
  for (const { workflow, runId, held } of [canceled, late]) {
    const { run } = await endOfRun(service, workflow, runId);
    assert.notEqual(run.status, 'success');
    await stopped(runId);
    held.release({ text: 'too late' });
    assert.ok(!(await textOf(runId)).includes('secret'));
  }
});

test('the shortest retention of its agents applies to a workflow run and its bodies', async () => {
  const [short, long] = [await addAgent(service, { user }), await addAgent(service, { user })];
  await keep(short, { records: 20, bodies: 5 });
  await keep(long, { records: 200, bodies: 100 });
  const shorter = await chain(long, short);
  const longer = await chain(long, long);
  const usual = await chain(long, keeping);
  const [young, ripe, old] = [
    await aged(shorter, 4),
    await aged(shorter, 6),
    await aged(shorter, 21),
  ];
  const [kept, bodiless] = [await aged(longer, 99), await aged(longer, 101)];
  const [before, beyond] = [await aged(usual, 89), await aged(usual, 91)];
  await round();
  assert.ok('input' in (await read(shorter, young)).body);
  const { body } = await read(shorter, ripe);
  assert.ok(!('input' in body) && !('output' in body));
  assert.equal(body.status, 'success');
  assert.equal((await read(shorter, old)).status, 404);
  assert.ok('input' in (await read(longer, kept)).body);
  assert.ok(!('input' in (await read(longer, bodiless)).body));
  assert.ok('input' in (await read(usual, before)).body);
  assert.equal((await read(usual, beyond)).status, 404);
});

test('a workflow run without bodies is replayed by its Idempotency-Key', async () => {
  const workflow = await chain(keeping, await bare());
  const starter = service.workflows.workflowStarter;
  const first = await starter.start(startCall(workflow, key, { text: 'x' }, 'once'));
  assert.equal(first.kind, 'accepted');
  if (first.kind !== 'accepted') return;
  await endOfRun(service, workflow, first.runId);
  await later(first.runId);
  await round();
  const again = await starter.start(startCall(workflow, key, { text: 'x' }, 'once'));
  assert.ok(again.kind === 'accepted' && again.replayed && again.runId === first.runId);
  const other = await starter.start(startCall(workflow, key, { text: 'y' }, 'once'));
  assert.ok(other.kind === 'refused' && other.code === 'IDEMPOTENCY_KEY_REUSED');
});
