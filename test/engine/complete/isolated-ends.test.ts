import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { testPipelines } from '../../../harness/pipelines.ts';
import { countReadChars } from '../../../harness/read-chars.ts';
import { startService } from '../../../harness/service.ts';
import { coldProgress } from '../../../harness/workflow-engine.ts';
import { addWorkflow, startRun, step } from '../../../harness/workflow-runs.ts';
import { fromId } from '../../../src/core/id.ts';
import type { Pipelines, Send } from '../../../src/db/pipeline.ts';
import { sql } from '../../../src/db/sql.ts';
import { canceledEnd, createFinisher } from '../../../src/engine/complete/finish.ts';
import { findLiveExecutions } from '../../../src/engine/read/executions.ts';

/** Ends in one batch: values of workflow runs must not delay plain executions. */

const service = await startService();
after(service.close);
const { db, models } = service;
const pipelines = testPipelines(service.database.connection);
after(() => pipelines.close());
const { key } = await service.key();
const agent = await addAgent(service, { user: 'x' });
/** Two workflow runs exceed the shared budget with it, one does not. */
const valueChars = 4_000_000;
const names = ['a', 'b', 'c', 'd', 'e'];

/** Running calls: the last step of each workflow run, and a plain execution. The next steps refer to long values. */
async function liveExecutions(runs: number) {
  const workflow = await addWorkflow(service, {
    steps: [
      ...names.map((name) => step({ name, agent })),
      step({ name: 'last', agent, after: names, onFailure: 'continue' }),
      step({
        name: 'next',
        agent,
        after: ['last'],
        variables: { all: names.map((name) => `{{steps.${name}.output}}`) },
        onFailure: 'continue',
      }),
    ],
    output: 'done',
  });
  const runIds: string[] = [];
  const executionIds: string[] = [];
  for (let n = 0; n < runs; n++) {
    models.script(...names.map(() => ({})));
    const heldCall = models.hold();
    const runId = await startRun(service, workflow, key);
    await heldCall.arrived;
    const { rows } = await sql<{ id: string }>`
      select execution_id as id from workflow_steps where run_id = ${runId} and step = 'last'`.execute(
      db,
    );
    runIds.push(runId);
    executionIds.push(rows[0]?.id ?? '');
  }
  await sql`
    update workflow_steps set output = to_json(repeat('x', ${valueChars}::int))
    where run_id = any(${runIds}::uuid[]) and status = 'success'`.execute(db);
  const heldCall = models.hold();
  const { body } = await service.call('POST', `${agent.path}/execute`, {
    ...{ key, body: { variables: {} } },
  });
  await heldCall.arrived;
  const free = fromId('execution', body.executionId) ?? '';
  return { runIds, executionIds, free };
}

/** Ends them in one batch. Returns the commit order, the number of transactions and the statuses of the workflow runs. */
async function endTogether(
  { runIds, executionIds, free }: Awaited<ReturnType<typeof liveExecutions>>,
  batches: Pipelines,
) {
  const ended: string[] = [];
  const finisher = createFinisher({
    ...coldProgress(),
    onEnded: (executions) => void ended.push(...executions.map(({ id }) => id)),
    ...{ pipelines: batches, singlePipelines: pipelines },
  });
  const all = [...executionIds, free];
  const unended = await findLiveExecutions(db, all);
  const ends = all.map((id) => {
    const one = unended.get(id);
    assert.ok(one);
    return finisher.finish(canceledEnd(one, null));
  });
  assert.ok((await Promise.all(ends)).every((one) => one.ended));
  await finisher.idle();
  const { rows: transactions } = await sql<{ xmin: string }>`
    select distinct xmin::text from executions where id = any(${all}::uuid[])`.execute(db);
  const { rows } = await sql<{ status: string }>`
    select status from workflow_runs where id = any(${runIds}::uuid[])`.execute(db);
  return { ended, transactions: transactions.length, runs: rows.map(({ status }) => status) };
}

test('workflow runs over the budget advance in separate transactions after the plain ends', async () => {
  const calls = await liveExecutions(2);
  const batches = countReadChars(pipelines);
  assert.deepEqual(await endTogether(calls, batches), {
    ended: [calls.free, ...calls.executionIds],
    transactions: 3,
    runs: ['success', 'success'],
  });
  assert.ok(batches.chars() < valueChars, `${batches.chars()} characters`);
});

test('a connection lost while reading values isolates the workflow runs as well', async () => {
  const calls = await liveExecutions(1);
  const batches: Pipelines = {
    ...pipelines,
    use: (work, responseTimeoutMs) =>
      pipelines.use((send) => {
        const losing = (async (...args: Parameters<Send>) => {
          if (args[0].name === 'progress-read-outputs') throw new Error('the connection is lost');
          return send(...args);
        }) as Send;
        return work(losing);
      }, responseTimeoutMs),
  };
  assert.deepEqual(await endTogether(calls, batches), {
    ended: [calls.free, ...calls.executionIds],
    transactions: 2,
    runs: ['success'],
  });
});
