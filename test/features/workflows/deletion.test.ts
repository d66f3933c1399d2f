import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { testPipelines } from '../../../harness/pipelines.ts';
import { addRecords, dayMs, miscounted, remainingIds } from '../../../harness/records.ts';
import { runRetentionRound } from '../../../harness/retention-round.ts';
import { startService } from '../../../harness/service.ts';
import {
  addOpenRun,
  addWorkflow,
  endOfRun,
  startCall,
  startRun,
  step,
} from '../../../harness/workflow-runs.ts';
import { fromId } from '../../../src/core/id.ts';
import { sql } from '../../../src/db/sql.ts';
import {
  deletableExecutions,
  listOpenErasures,
} from '../../../src/features/history/statements/erasures.ts';
import {
  deletedStepsMax,
  deleteOverdueWorkflowRuns,
  listOverdueVersions,
} from '../../../src/features/history/statements/workflow-deletion.ts';
import { eraseWorkflowRuns } from '../../../src/features/history/verbs/erase-workflow-runs.ts';

const service = await startService();
after(service.close);
const { db, call } = service;
const { key } = await service.key();
const user = await service.member('owner');
const agent = await addAgent(service, { user: '{{text}}' });
const round = () => runRetentionRound(db, service.database);
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

async function remaining(ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from workflow_runs where id = any (${ids}::uuid[])`.execute(db);
  return ids.filter((id) => rows.some((row) => row.id === id));
}

/** Ended workflow runs of a given age and number of steps. */
async function old(workflowId: string, days: number, { runs = 1, steps = 0, input = {} } = {}) {
  const { rows } = await sql<{ id: string; versionId: string }>`
    with made as (
      insert into workflow_runs (id, workspace_id, workflow_id, workflow_version_id, trigger, status, executed_at,
        completed_at, deadline_at, input)
      select (left(id_floor(clock_timestamp() - ${days} * interval '1 day' + n * interval '1 millisecond')::text, 24)
          || right(gen_random_uuid()::text, 12))::uuid,
        workspace_id, id, workflow_version_id, 'api', 'success', clock_timestamp(), clock_timestamp(),
        clock_timestamp(), ${JSON.stringify(input)}::json
      from workflows, generate_series(1, ${runs}::int) as n where id = ${workflowId}
      returning id, workflow_version_id as version_id),
    stepped as (
      insert into workflow_steps (run_id, step, item, status)
      select id, 'a', n - 2, 'success' from made, generate_series(1, ${steps}::int) as n)
    select * from made order by id`.execute(db);
  return { ids: rows.map(({ id }) => id), versionId: rows[0]?.versionId ?? '' };
}

async function erase(value: string, agentId?: string) {
  const body = { variable: 'customer', value, ...(agentId && { agentId }) };
  const accepted = await call('POST', '/api/v1/erasures', { user, body });
  assert.equal(accepted.status, 202);
  await round();
  return async () =>
    (await call('GET', `/api/v1/erasures/${accepted.body.erasureId}`, { user })).body;
}

test('overdue workflow runs are deleted with their steps', async () => {
  const [old, young] = [await ended({}), await ended({})];
  const oldId = `00000000-0001-7000-8000-${old.slice(24)}`;
  await sql`
    with gone as (delete from workflow_steps where run_id = ${old})
    update workflow_runs set id = ${oldId} where id = ${old}`.execute(db);
  await sql`insert into workflow_steps (run_id, step, status) values (${oldId}, 'a', 'success')`.execute(
    db,
  );
  await round();
  assert.deepEqual(await remaining([oldId, young]), [young]);
  const { rows } = await sql`select from workflow_steps where run_id = ${oldId}`.execute(db);
  assert.equal(rows.length, 0);
});

test('workflow runs with many steps are deleted in batches, all in one round', async () => {
  const other = await addWorkflow(service, { steps: [step({ name: 'a', agent })] });
  const many = await old(other.id, 100, { runs: 3, steps: deletedStepsMax * 0.75 });
  const young = await old(other.id, 80);
  assert.equal(await deleteOverdueWorkflowRuns(db, many.versionId), 2);
  assert.equal((await remaining(many.ids)).length, 1);
  await round();
  assert.deepEqual(await remaining([...many.ids, ...young.ids]), young.ids);
});

test('only versions with workflow runs are scanned, page by page', async () => {
  await sql`truncate workflow_runs cascade`.execute(db);
  const [ripe, , young] = [
    await addWorkflow(service, { steps: [step({ name: 'a', agent })] }),
    await addWorkflow(service, { steps: [step({ name: 'a', agent })] }),
    await addWorkflow(service, { steps: [step({ name: 'a', agent })] }),
  ];
  const { versionId } = await old(ripe.id, 100, { runs: 2 });
  const { versionId: last } = await old(young.id, 80, { runs: 2 });
  const first = await listOverdueVersions(db, fromId('workflow', workflow.workflowId) ?? '', 1);
  assert.deepEqual(first, [{ versionId, losesRuns: true, losesBodies: false }]);
  const rest = await listOverdueVersions(db, versionId, 10);
  assert.deepEqual(rest, [{ versionId: last, losesRuns: false, losesBodies: false }]);
});

test('an erasure resumes among the workflow runs', async () => {
  const { ids } = await old(workflow.id, 10, { runs: 2_500, input: { customer: 'many' } });
  const body = { variable: 'customer', value: 'many' };
  const { erasureId } = (await call('POST', '/api/v1/erasures', { user, body })).body;
  const open = async () => {
    const erasure = (await listOpenErasures(db)).find(
      ({ id }) => id === fromId('erasure', erasureId),
    );
    if (!erasure) throw new Error('the erasure is not open');
    return erasure;
  };
  const pipelines = testPipelines(service.database.connection);
  const works = async () => eraseWorkflowRuns({ db, pipelines }, await open(), (work) => work());
  await (await works()).next();
  const { workflowRunsDownTo } = await open();
  assert.equal(ids.indexOf(workflowRunsDownTo), 500);
  assert.equal((await call('GET', `/api/v1/erasures/${erasureId}`, { user })).body.waiting, 2_000);
  const later = await works();
  await later.next();
  await pipelines.close();
  assert.ok((await open()).workflowRunsDownTo < (ids[0] ?? ''));
  await round();
  assert.deepEqual(await remaining(ids), []);
  const { body: done } = await call('GET', `/api/v1/erasures/${erasureId}`, { user });
  assert.deepEqual([done.status, done.waiting], ['completed', 0]);
});

test('an erasure deletes workflow runs that match by input or by a step', async () => {
  const byInput = await ended({ customer: '42' });
  const nested = await ended({ customer: { id: 7, a: [1] } });
  const byStep = await ended({ named: '42' });
  const other = await ended({ customer: '43', named: '43' });
  const state = await erase('42');
  assert.equal((await state()).status, 'completed');
  assert.deepEqual(await remaining([byInput, nested, byStep, other]), [nested, other]);
  await erase('{"id":7,"a":[1]}');
  assert.deepEqual(await remaining([nested, other]), [other]);
});

/** The remaining executions of a workflow run. */
async function executionsOf(runId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from executions where workflow_run_id = ${runId}`.execute(db);
  return rows.map(({ id }) => id);
}

const chain = await addWorkflow(service, {
  steps: [
    step({
      name: 'one',
      agent,
      variables: { text: 'For {{input.customer}}{{input.named}}', customer: '{{input.named}}' },
    }),
    step({ name: 'two', agent, variables: { text: 'Write to {{steps.one.output}}' } }),
    step({
      name: 'three',
      agent,
      forEach: { list: ['a', 'b', '{{steps.two.output}}'] },
      variables: { text: '{{item}}' },
    }),
  ],
});

for (const [how, input] of [
  ['its input', { customer: 'ada@example.com' }],
  ['a step', { named: 'ada@example.com' }],
] as const) {
  test(`an erasure deletes all executions of a workflow run that the value reached by ${how}`, async () => {
    const start = async (values: object) => {
      const runId = await startRun(service, chain, key, values);
      await endOfRun(service, chain, runId);
      return runId;
    };
    const [run, other] = [await start(input), await start({ customer: 'bob@example.com' })];
    assert.equal((await executionsOf(run)).length, 5);
    const state = await erase('ada@example.com');
    const { status, deleted, waiting } = await state();
    assert.deepEqual({ status, deleted, waiting }, { status: 'completed', deleted: 5, waiting: 0 });
    assert.deepEqual(await executionsOf(run), []);
    assert.equal((await executionsOf(other)).length, 5);
    assert.deepEqual(await remaining([run, other]), [other]);
    assert.deepEqual(await miscounted(db), []);
    const { rows } = await sql<{ text: string }>`
      select string_agg(e::text, ' ') as text from executions e`.execute(db);
    assert.ok(!rows[0]?.text.includes('ada@example.com'));
  });
}

test('an erasure for one agent deletes all executions of a run that it reached by a step', async () => {
  const elsewhere = await addAgent(service, { user: '{{text}}' });
  const two = await addWorkflow(service, {
    steps: [
      step({ name: 'one', agent, variables: { text: 'x', customer: '{{input.named}}' } }),
      step({
        name: 'two',
        agent: elsewhere,
        variables: { text: '{{input.named}}' },
        after: ['one'],
      }),
    ],
  });
  const runId = await startRun(service, two, key, { named: '45' });
  await endOfRun(service, two, runId);
  await erase('45', agent.agentId);
  assert.deepEqual([await remaining([runId]), await executionsOf(runId)], [[], []]);
});

test('an erasure finds the other steps of a run that retention has deleted', async () => {
  const runId = await startRun(service, chain, key, { named: '46' });
  await endOfRun(service, chain, runId);
  await sql`delete from workflow_runs where id = ${runId}`.execute(db);
  const state = await erase('46');
  assert.equal((await state()).status, 'completed');
  assert.deepEqual(await executionsOf(runId), []);
});

test('an erasure compares each value of a repeated input', async () => {
  const { ids } = await old(workflow.id, 5, { runs: 1 });
  await sql`
    update workflow_runs set input = '{"customer":"47","customer":"other"}' where id = any (${ids}::uuid[])`.execute(
    db,
  );
  await erase('47');
  assert.deepEqual(await remaining(ids), []);
});

test('an erasure deletes the idempotency keys of workflow runs', async () => {
  const start = () =>
    service.workflows.workflowStarter.start(
      startCall(workflow, key, { text: 'x', customer: '48' }, 'once'),
    );
  const first = await start();
  assert.ok(first.kind === 'accepted');
  await endOfRun(service, workflow, first.runId);
  await erase('48');
  const again = await start();
  assert.ok(again.kind === 'accepted');
  assert.equal(again.replayed, false);
  await endOfRun(service, workflow, again.runId);
});

test('an erasure for one agent deletes workflow runs by steps, not by input', async () => {
  const byInput = await ended({ customer: '50' });
  const byStep = await ended({ named: '50' });
  await erase('50', agent.agentId);
  assert.deepEqual(await remaining([byInput, byStep]), [byInput]);
});

test('an erasure waits for a live workflow run', async () => {
  const heldCall = service.models.hold();
  const runId = await startRun(service, workflow, key, { text: 'held', customer: '60' });
  await heldCall.arrived;
  const state = await erase('60');
  assert.equal((await state()).status, 'processing');
  heldCall.release({ text: 'done' });
  await endOfRun(service, workflow, runId);
  await round();
  assert.equal((await state()).status, 'completed');
  assert.deepEqual(await remaining([runId]), []);
});

test('the record of a step is kept while its workflow run is live', async () => {
  const two = await addWorkflow(service, {
    steps: [
      step({ name: 'a', agent, variables: { text: 'first', customer: '70' } }),
      step({ name: 'b', agent, variables: { text: '{{steps.a.output}} second' } }),
    ],
  });
  service.models.script({ text: 'first' });
  const heldCall = service.models.hold();
  const runId = await startRun(service, two, key);
  await heldCall.arrived;
  const state = await erase('70');
  assert.equal((await state()).status, 'processing');
  heldCall.release({ text: 'done' });
  await endOfRun(service, two, runId);
  await round();
  assert.equal((await state()).status, 'completed');
  assert.deepEqual(await remaining([runId]), []);
});

test('an overdue record of a step is deleted once its workflow run has ended', async () => {
  const brief = await addAgent(service);
  await sql`update agents set records_days = 1 where id = ${brief.id}`.execute(db);
  const runId = await addOpenRun(db, workflow);
  const of = { workspaceId: service.workspaceId, agentId: brief.id, atMs: Date.now() - 3 * dayMs };
  const [stepped = '', free = ''] = await addRecords(db, [of, of]);
  await sql`
    update executions set workflow_run_id = ${runId}, step_name = 'a' where id = ${stepped}`.execute(
    db,
  );
  await round();
  assert.deepEqual(await remainingIds(db, [stepped, free]), [stepped]);
  await sql`
    update workflow_runs set status = 'success', completed_at = clock_timestamp() where id = ${runId}`.execute(
    db,
  );
  await round();
  assert.deepEqual(await remainingIds(db, [stepped, free]), []);
});

test('an erasure continues past records that must be kept for now', async (t) => {
  const open = await addOpenRun(db, workflow);
  t.after(() => sql`delete from workflow_runs where id = ${open}`.execute(db));
  const of = { workspaceId: service.workspaceId, agentId: agent.id, atMs: Date.now() };
  const [kept = '', gone = ''] = await addRecords(db, [of, of]);
  await sql`
    update executions set workflow_run_id = ${open}, step_name = 'a' where id = ${kept}`.execute(
    db,
  );
  const body = { variable: 'customer', value: 'nobody' };
  const accepted = await call('POST', '/api/v1/erasures', { user, body });
  const id = fromId('erasure', accepted.body.erasureId) ?? '';
  await sql`
    insert into erasure_executions (erasure_id, execution_id) select ${id}, unnest(${[kept, gone]}::uuid[])`.execute(
    db,
  );
  assert.deepEqual(await deletableExecutions(db, id, 1), [gone]);
});
