import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { testPipelines } from '../../../harness/pipelines.ts';
import { startService } from '../../../harness/service.ts';
import {
  addOpenRun,
  addWorkflow,
  endOfRun,
  startRun,
  step,
  withText,
} from '../../../harness/workflow-runs.ts';
import { toId } from '../../../src/core/id.ts';
import { fresh } from '../../../src/core/workflow/step-state.ts';
import { sql } from '../../../src/db/sql.ts';
import { commit } from '../../../src/db/statements.ts';
import { beginProgress, writeProgress } from '../../../src/engine/advance/workflow-progress.ts';

/** Model output in error messages, and ends whose follow-up cannot be stored. */

const service = await startService();
after(service.close);
const { db, models } = service;
const { key } = await service.key();
const agent = await addAgent(service, { user: '{{text}}' });
const refusing = await addAgent(service, { user: 'x', stage: 'Paused' });

/** The JSON of a name with a NUL, which the error of a condition quotes. */
const odd = withText('{"k": "a\\u0000b"}');
const quoting = 'input[steps.odd.output.k] == "x"';
const quoted = 'No such key: a\ufffdb';
/** After this time, a stuck workflow run fails as well, with another code. */
const timeoutMs = 120_000;

await sql`
  create function refuse() returns trigger language plpgsql as $$ begin raise 'never' using errcode = '22021'; end $$`.execute(
  db,
);
await sql`
  create trigger refuse before insert on workflow_steps for each row when (new.step = 'poison')
  execute function refuse()`.execute(db);

async function runWorkflow(...steps: Parameters<typeof step>[0][]) {
  const workflow = await addWorkflow(service, { timeoutMs, steps: steps.map(step) });
  const runId = await startRun(service, workflow, key);
  return endOfRun(service, workflow, runId);
}

/** Cancels the execution of a step and returns the HTTP status. */
async function cancel(runId: string, name: string): Promise<number> {
  const { rows } = await sql<{ executionId: string }>`
    select execution_id from workflow_steps where run_id = ${runId} and step = ${name}`.execute(db);
  const executionId = toId('execution', rows[0]?.executionId ?? '');
  const path = `${agent.path}/executions/${executionId}/cancel`;
  return (await service.call('POST', path, { key })).status;
}

/** Removes and returns the expected faults of one workflow run. */
function takeFaults(): string[] {
  return service.faults.splice(0).map((fault) => JSON.stringify(fault));
}

async function recordOf(executionId: string | null | undefined) {
  const { rows } = await sql<{ status: string; output: string | null }>`
    select status::text as status, output from executions where id = ${executionId}`.execute(db);
  return rows[0];
}

test('a step keeps its output if the next condition quotes text that cannot be stored', async () => {
  const { run, steps } = await runWorkflow(
    { name: 'odd', agent, ...odd },
    { name: 'after', agent, ...withText('x'), when: quoting },
  );
  assert.equal(run.error, `Step "after" failed: ${quoted}`);
  const { status, output } = (await recordOf(steps.get('odd')?.executionId)) ?? {};
  assert.deepEqual([status, output], ['success', '{"k": "a\\u0000b"}']);
  assert.equal(steps.get('odd')?.status, 'success');
  assert.deepEqual(
    [steps.get('after')?.errorCode, steps.get('after')?.error],
    ['CONDITION_FAILED', quoted],
  );
});

test('an end is written if the next condition quotes text that cannot be stored, also after a cancel', async () => {
  const workflow = await addWorkflow(service, {
    timeoutMs,
    steps: [
      step({ name: 'odd', agent, ...odd }),
      step({ name: 'held', agent, ...withText('x'), after: ['odd'], onFailure: 'continue' }),
      step({ name: 'after', agent, ...withText('x'), after: ['held'], when: quoting }),
    ],
  });
  models.script({});
  const heldCall = models.hold();
  const runId = await startRun(service, workflow, key);
  await heldCall.arrived;
  assert.equal(await cancel(runId, 'held'), 200);
  const { run } = await endOfRun(service, workflow, runId);
  assert.equal(run.error, `Step "after" failed: ${quoted}`);
});

test('error messages are made storable when they are written', async () => {
  const workflow = await addWorkflow(service, { steps: [step({ name: 'a', agent })] });
  const runId = await addOpenRun(db, workflow);
  const pipelines = testPipelines(service.database.connection);
  const error = 'a\0b\ud800';
  await pipelines.use((send) =>
    Promise.all([
      beginProgress(send),
      writeProgress(send, {
        steps: [{ ...fresh('a', -1), runId, status: 'failed', errorCode: 'INTERNAL', error }],
        ends: [
          { runId, end: { status: 'failed', errorCode: 'STEP_FAILED', error, failedStep: 'a' } },
        ],
      }),
      send(commit),
    ]),
  );
  await pipelines.close();
  const { run, steps } = await endOfRun(service, workflow, runId);
  assert.deepEqual([run.error, steps.get('a')?.error], ['a\ufffdb\ufffd', 'a\ufffdb\ufffd']);
});

test('an end whose follow-up cannot be stored fails the workflow run and keeps its output', async () => {
  const { run, steps } = await runWorkflow(
    { name: 'first', agent, ...withText('paid for') },
    { name: 'poison', agent, ...withText('x'), after: ['first'] },
  );
  assert.deepEqual([run.status, run.errorCode, run.failedStep], ['failed', 'INTERNAL', null]);
  assert.deepEqual(await recordOf(steps.get('first')?.executionId), {
    status: 'success',
    output: 'paid for',
  });
  const { status, errorCode } = steps.get('first') ?? {};
  assert.deepEqual([status, errorCode], ['success', null]);
  const faults = takeFaults();
  assert.equal(faults.length, 1, 'it was not tried again');
  assert.match(faults[0] ?? '', /workflow run crashed/);
});

test('the same holds for a cancel, which succeeds', async () => {
  const workflow = await addWorkflow(service, {
    timeoutMs,
    steps: [
      step({ name: 'held', agent, ...withText('x'), onFailure: 'continue' }),
      step({ name: 'poison', agent, ...withText('x'), after: ['held'] }),
    ],
  });
  const heldCall = models.hold();
  const runId = await startRun(service, workflow, key);
  await heldCall.arrived;
  assert.equal(await cancel(runId, 'held'), 200);
  const { run, steps } = await endOfRun(service, workflow, runId);
  assert.equal(run.errorCode, 'INTERNAL');
  const { status, errorCode } = steps.get('held') ?? {};
  assert.deepEqual([status, errorCode], ['failed', 'CANCELED']);
  assert.equal(takeFaults().length, 1);
});

test('the same holds for a permanent refusal', async () => {
  const { run } = await runWorkflow(
    { name: 'refused', agent: refusing, onFailure: 'continue' },
    { name: 'poison', agent, ...withText('x'), after: ['refused'] },
  );
  assert.equal(run.errorCode, 'INTERNAL');
  assert.equal(takeFaults().length, 1);
});
