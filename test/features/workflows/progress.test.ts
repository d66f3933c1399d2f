import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { testPipelines } from '../../../harness/pipelines.ts';
import { startService } from '../../../harness/service.ts';
import { coldProgress, openStarter } from '../../../harness/workflow-engine.ts';
import { addWorkflow, startCall, step } from '../../../harness/workflow-runs.ts';
import { toId } from '../../../src/core/id.ts';
import type { Send } from '../../../src/db/pipeline.ts';
import { sql } from '../../../src/db/sql.ts';
import { commit } from '../../../src/db/statements.ts';
import type { Definitions } from '../../../src/engine/advance/definition-cache.ts';
import { planProgress } from '../../../src/engine/advance/plan-progress.ts';
import { beginProgress, lockWorkflowRuns } from '../../../src/engine/advance/workflow-progress.ts';
import { readSteps } from '../../../src/engine/advance/workflow-progress-read.ts';
import { settleSteps } from '../../../src/features/workflows/verbs/settle-steps.ts';

const service = await startService({ role: 'api' });
after(service.close);
const { connection } = service.database;
const { starter, close } = openStarter(connection);
after(close);
const pipelines = testPipelines(connection);
after(() => pipelines.close());
const { key } = await service.key();
const agent = await addAgent(service, { user: 'x' });

const refusalOf = (runId: string, name: string) => ({
  runId,
  step: name,
  item: -1,
  fallback: false,
  executionId: null,
  outcome: { kind: 'failed', code: 'AGENT_NOT_ACTIVE', error: 'No.' } as const,
});

/** The second step is ready. What follows refers to the input, and then to the output of the first step. */
async function startRun(input: object): Promise<string> {
  const workflow = await addWorkflow(service, {
    input: { required: ['n'], optional: [], defaults: {} },
    steps: [
      step({ name: 'first', agent, fallback: { output: 'X' } }),
      step({ name: 'second', agent, after: ['first'], onFailure: 'continue' }),
      step({ name: 'third', agent, after: ['second'], when: 'input.n < 0' }),
    ],
    output: '{{steps.first.output}}',
  });
  const started = await starter.start(startCall(workflow, key, input));
  assert.ok(started.kind === 'accepted');
  const deps = { ...coldProgress(), pipelines, progressed: () => {} };
  await settleSteps(deps, started.runId, [refusalOf(started.runId, 'first')]);
  return started.runId;
}

/** Plans workflow runs in one transaction. `reads` lists the sent and completed reads of values, in order. */
async function plan(runIds: readonly string[], deps = coldProgress()) {
  const reads: string[] = [];
  const events = runIds.map((runId) => refusalOf(runId, 'second'));
  const { ended, faults } = await pipelines.use(async (send) => {
    const recordingSend = (async (...args: Parameters<Send>) => {
      const [{ name }] = args;
      if (/^progress-read-(input|outputs)$/.test(name)) reads.push(`${name} sent`);
      const rows = await send(...args);
      if (/^progress-read-(input|outputs)$/.test(name)) reads.push(`${name} completed`);
      return rows;
    }) as Send;
    const [, runs, steps] = await Promise.all([
      beginProgress(send),
      lockWorkflowRuns(send, runIds),
      readSteps(send, events),
    ]);
    const planned = await planProgress(
      deps,
      recordingSend,
      { runs, steps, shared: runIds.length > 1 },
      events,
    );
    await send(commit);
    for (const [runId, values] of planned.progress.learned) deps.values.add(runId, values);
    return planned.progress;
  });
  return { reads, ended, faults };
}

test('planProgress reads the missing values of a batch at once, not one workflow run after the other', async () => {
  const runIds = await Promise.all([1, 2, 3].map((n) => startRun({ n })));
  const { reads, ended } = await plan(runIds);
  const of = (name: string) =>
    ['sent', 'completed'].flatMap((what) => runIds.map(() => `${name} ${what}`));
  assert.deepEqual(reads, [...of('progress-read-input'), ...of('progress-read-outputs')]);
  assert.deepEqual(
    ended.map(({ end }) => end),
    runIds.map(() => ({ status: 'success', output: '"X"' })),
  );
});

test('workflow runs with conditions at the list limit all start together', async () => {
  const workflow = await addWorkflow(service, {
    input: { required: ['n'], optional: [], defaults: {} },
    steps: [step({ name: 'first', agent, when: 'input.n.all(a, a >= 0.0)' })],
  });
  const input = { n: Array.from({ length: 10_000 }, (_, at) => at) };
  const starts = Array.from({ length: 25 }, () => starter.start(startCall(workflow, key, input)));
  for (const started of await Promise.all(starts)) assert.equal(started.kind, 'accepted');
  const { rows } = await sql<{ steps: number }>`
    select count(*)::int as steps from workflow_steps s join workflow_runs r on r.id = s.run_id
    where r.workflow_id = ${workflow.id} and s.status <> 'failed'`.execute(service.db);
  assert.equal(rows[0]?.steps, 25);
});

test('workflow runs with long variables get separate transactions', async () => {
  const workflow = await addWorkflow(service, {
    input: { required: ['text'], optional: [], defaults: {} },
    steps: ['a', 'b', 'c'].map((name) =>
      step({ name, agent, variables: { text: '{{input.text}}'.repeat(80) } }),
    ),
  });
  const call = () => starter.start(startCall(workflow, key, { text: 'x'.repeat(50_000) }));
  const starts = await Promise.all([call(), call(), call()]);
  assert.ok(starts.every(({ kind }) => kind === 'accepted'));
  const { rows } = await sql<{ transactions: number }>`
    select count(distinct xmin::text)::int as transactions from workflow_runs
    where workflow_id = ${workflow.id}`.execute(service.db);
  assert.equal(rows[0]?.transactions, 3);
});

test('a condition is evaluated once, however often its workflow run needs more values', async (t) => {
  const runId = await startRun({ n: 777_777 });
  const parse = t.mock.method(JSON, 'parse');
  const { ended } = await plan([runId]);
  const judged = parse.mock.calls.filter(({ arguments: [text] }) => text === '{"n":777777}');
  assert.deepEqual([ended.length, judged.length], [1, 1]);
});

test('a workflow run that cannot advance fails, and the others of its batch advance', async () => {
  const [good = '', bad = ''] = [await startRun({ n: 1 }), await startRun({ n: 2 })];
  const { rows } = await sql<{ workflowVersionId: string }>`
    select workflow_version_id from workflow_runs where id = ${bad}`.execute(service.db);
  const { definitions } = coldProgress();
  const deps = {
    ...coldProgress(),
    definitions: async (send: Send, id: string) => {
      const read = await definitions(send, id);
      return id === rows[0]?.workflowVersionId ? { ...read, steps: [null] as never } : read;
    },
  };
  const { ended, faults } = await plan([good, bad], deps);
  const codes = new Map(
    ended.map(({ runId, end }) => [runId, 'errorCode' in end ? end.errorCode : null]),
  );
  assert.deepEqual([codes.get(good), codes.get(bad)], [null, 'INTERNAL']);
  assert.deepEqual(
    faults.map(({ message, cause }) => [message, cause instanceof TypeError]),
    [[`${toId('workflowRun', bad)} cannot advance`, true]],
  );
});

test('a faulted workflow run keeps the results of ended calls and cancels the rest', async () => {
  const deps = { ...coldProgress(), pipelines, progressed: () => {} };
  const definitions: Definitions = async () => ({ steps: [null] }) as never;
  for (const [refused, second] of [
    ['second', 'failed'],
    ['first', 'canceled'],
  ] as const) {
    const runId = await startRun({ n: 1 });
    await settleSteps({ ...deps, definitions }, runId, [refusalOf(runId, refused)]);
    const { rows } = await sql<{ is: string }>`
      select r.status || ' ' || r.error_code || ', ' ||
        (select string_agg(step || ' ' || status, ', ' order by step) from workflow_steps where run_id = r.id) as is
      from workflow_runs r where r.id = ${runId}`.execute(service.db);
    assert.equal(rows[0]?.is, `failed INTERNAL, first success, second ${second}`);
  }
});
