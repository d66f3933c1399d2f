import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { numbered, testPipelines } from '../../../harness/pipelines.ts';
import { rowsOfStatement } from '../../../harness/plan.ts';
import { startService } from '../../../harness/service.ts';
import { addOpenRun, addWorkflow, step } from '../../../harness/workflow-runs.ts';
import type { WorkflowStepOf } from '../../../src/core/agent/model-settings.ts';
import { sql } from '../../../src/db/sql.ts';
import {
  lockReadySteps,
  lockReadyStepsOfRuns,
} from '../../../src/engine/advance/workflow-steps.ts';

const service = await startService({ role: 'api' });
const { db } = service;
const pipelines = testPipelines(service.database.connection);
after(() => pipelines.close());
after(service.close);
const agent = await addAgent(service, { user: 'x' });
const workflow = await addWorkflow(service, { steps: [step({ name: 'a', agent })] });

const many = 3_000;
const named = 100;

/** Adds a workflow run with many items of this status; returns the first ones in descending order. */
async function addItems(status: 'success' | 'ready'): Promise<WorkflowStepOf[]> {
  const runId = await addOpenRun(db, workflow);
  const [variables, agentId] = status === 'ready' ? ['{}', agent.id] : [null, null];
  const readyAt = status === 'success' ? null : new Date();
  await sql`
    insert into workflow_steps (run_id, step, item, status, ready_at, variables, agent_id)
    select ${runId}, 'a', item, ${status}, ${readyAt}::timestamptz, ${variables}::text, ${agentId}::uuid
    from generate_series(1, ${many}::int) as item`.execute(db);
  return Array.from({ length: named }, (_, at) => ({ runId, step: 'a', item: named - at }));
}

test('locking named steps reads only these, whatever the table statistics say', async () => {
  await addItems('success');
  await sql`analyze workflow_steps, workflow_runs`.execute(db);
  const steps = await addItems('ready');
  const locks = {
    'steps-lock-ready': lockReadySteps,
    'steps-lock-ready-of-runs': lockReadyStepsOfRuns,
  };
  for (const [name, lock] of Object.entries(locks)) {
    const rows = await rowsOfStatement(pipelines, name, (send) => lock(send, steps));
    assert.ok(rows >= named && rows <= 12 * named, `${name}: ${rows} rows`);
  }
});

test('named steps are locked in key order', async () => {
  const steps = await addItems('ready');
  const locked = await pipelines.use(async (send) => {
    await send(numbered('begin', 'begin'));
    const rows = await lockReadySteps(send, steps);
    await send(numbered('rollback', 'rollback'));
    return rows.map(({ item }) => item);
  });
  assert.deepEqual(
    locked,
    Array.from({ length: named }, (_, at) => at + 1),
  );
});
