import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { addAgent } from '../../harness/agents.ts';
import { runAsAdmin } from '../../harness/cluster.ts';
import { untilBlocked } from '../../harness/locks.ts';
import { testPipelines } from '../../harness/pipelines.ts';
import { startService } from '../../harness/service.ts';
import { coldProgress } from '../../harness/workflow-engine.ts';
import { addWorkflow, startCall, step } from '../../harness/workflow-runs.ts';
import { endWorkflowRun } from '../../src/flow/workflow/end-workflow-run.ts';
import { settleSteps } from '../../src/flow/workflow/settle-steps.ts';
import { createWorkflowStarter } from '../../src/flow/workflow/start-workflow.ts';

const service = await startService({ role: 'api' });
const { connection } = service.database;
// It is looked for once in each wait: by then the other side must have come to wait as well.
await runAsAdmin(
  { ...connection, user: 'postgres' },
  `alter database ${connection.database} set deadlock_timeout = '3s'`,
);
const pipelines = testPipelines(connection);
after(() => pipelines.close());
after(service.close);
const parts = { ...coldProgress(), pipelines, onProgress: () => {} };
const starter = createWorkflowStarter(parts);
const { key, id: keyId } = await service.key();
const agent = await addAgent(service, { user: 'x' });
const workflow = await addWorkflow(service, {
  steps: [step({ name: 'a', agent, fallback: { output: 'given' } })],
});

async function start(): Promise<string> {
  const started = await starter.start(startCall(workflow, key));
  assert.ok(started.kind === 'accepted');
  return started.runId;
}

async function statusOf(runId: string): Promise<string | undefined> {
  const { rows } = await sql<{ status: string }>`
    select status from workflow_runs where id = ${runId}`.execute(service.db);
  return rows[0]?.status;
}

async function deadlocks(): Promise<number> {
  const { rows } = await sql<{ deadlocks: number }>`
    select pg_stat_get_db_deadlocks(oid) as deadlocks from pg_database where datname = current_database()`.execute(
    service.db,
  );
  return rows[0]?.deadlocks ?? 0;
}

/**
 * Somebody else takes two locks in the other order, the second one once the call waits for the first. He is the one who
 * waits for ever: it is the call that finds the deadlock out, and is ended by it.
 */
async function deadlocked<T>(first: string, second: string, call: () => Promise<T>): Promise<T> {
  const before = await deadlocks();
  // Only a superuser may wait so patiently; both roles have the same password.
  const other = new pg.Client({ ...connection, user: 'postgres' });
  await other.connect();
  try {
    await other.query(`set deadlock_timeout = '1h'`);
    await other.query('begin');
    await other.query(first);
    const answer = call();
    answer.catch(() => {});
    await untilBlocked(service.db);
    await other.query(second);
    await other.query('commit');
    const result = await answer;
    // Whoever sweeps may have come into it as well.
    assert.ok((await deadlocks()) > before, 'there was one');
    return result;
  } finally {
    await other.end();
  }
}

test('a start that falls to a deadlock is tried again', async () => {
  const started = await deadlocked(
    `select from workspaces where id = '${service.workspaceId}' for update`,
    `select from limits where subject = '${keyId}' for update`,
    start,
  );
  assert.equal(await statusOf(started), 'processing');
});

test('so is the end of a run from outside', async () => {
  const runId = await start();
  const end = {
    status: 'canceled',
    errorCode: 'CANCELED',
    error: 'The workflow run was canceled.',
    failedStep: null,
  } as const;
  const ended = await deadlocked(
    `select from workflow_steps where run_id = '${runId}' for update`,
    `select from workflow_runs where id = '${runId}' for update`,
    () => endWorkflowRun(parts, runId, end),
  );
  assert.equal(ended, true);
  assert.equal(await statusOf(runId), 'canceled');
});

test('so is what follows for a step that was refused', async () => {
  const runId = await start();
  const outcome = { kind: 'failed', code: 'AGENT_NOT_ACTIVE', error: 'No.' } as const;
  const refused = { runId, step: 'a', item: -1, fallback: false, executionId: null, outcome };
  await deadlocked(
    `select from workflow_steps where run_id = '${runId}' for update`,
    `select from workflow_runs where id = '${runId}' for update`,
    () => settleSteps(parts, runId, [refused]),
  );
  assert.equal(await statusOf(runId), 'success');
});
