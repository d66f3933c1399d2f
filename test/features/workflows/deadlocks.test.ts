import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import pg from 'pg';
import { addAgent } from '../../../harness/agents.ts';
import { runAsAdmin } from '../../../harness/cluster.ts';
import { untilBlocked } from '../../../harness/locks.ts';
import { testPipelines } from '../../../harness/pipelines.ts';
import { startService } from '../../../harness/service.ts';
import { coldProgress } from '../../../harness/workflow-engine.ts';
import { addWorkflow, startCall, step } from '../../../harness/workflow-runs.ts';
import { sql } from '../../../src/db/sql.ts';
import { endWorkflowRun } from '../../../src/features/workflows/verbs/end-workflow-run.ts';
import { settleSteps } from '../../../src/features/workflows/verbs/settle-steps.ts';
import { createWorkflowStarter } from '../../../src/features/workflows/verbs/start-workflow.ts';

const service = await startService({ role: 'api' });
const { connection } = service.database;
// PostgreSQL checks once per wait. The other side must wait by then as well.
await runAsAdmin(
  { ...connection, user: 'postgres' },
  `alter database ${connection.database} set deadlock_timeout = '3s'`,
);
const pipelines = testPipelines(connection);
after(() => pipelines.close());
after(service.close);
const deps = { ...coldProgress(), pipelines };
const starter = createWorkflowStarter(deps);
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
 * Another transaction takes two locks in the opposite order, the second once the call waits for the first. It
 * waits without a deadlock check, so the call detects the deadlock and is aborted.
 */
async function deadlocked<T>(first: string, second: string, call: () => Promise<T>): Promise<T> {
  const before = await deadlocks();
  // Only a superuser may set the timeout; both roles have the same password.
  const other = new pg.Client({ ...connection, user: 'postgres' });
  await other.connect();
  try {
    await other.query(`set deadlock_timeout = '1h'`);
    await other.query('begin');
    await other.query(first);
    const pending = call();
    pending.catch(() => {});
    await untilBlocked(service.db);
    await other.query(second);
    await other.query('commit');
    const result = await pending;
    // A sweep may be part of the deadlock as well.
    assert.ok((await deadlocks()) > before, 'there was one');
    return result;
  } finally {
    await other.end();
  }
}

test('a start is retried after a deadlock', async () => {
  const started = await deadlocked(
    `select from workspaces where id = '${service.workspaceId}' for update`,
    `select from limits where subject = '${keyId}' for update`,
    start,
  );
  assert.equal(await statusOf(started), 'processing');
});

test('the cancel of a workflow run is retried after a deadlock', async () => {
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
    () => endWorkflowRun(deps, runId, end),
  );
  assert.equal(ended, true);
  assert.equal(await statusOf(runId), 'canceled');
});

test('settling a refused step is retried after a deadlock', async () => {
  const runId = await start();
  const outcome = { kind: 'failed', code: 'AGENT_NOT_ACTIVE', error: 'No.' } as const;
  const refused = { runId, step: 'a', item: -1, fallback: false, executionId: null, outcome };
  await deadlocked(
    `select from workflow_steps where run_id = '${runId}' for update`,
    `select from workflow_runs where id = '${runId}' for update`,
    () => settleSteps(deps, runId, [refused]),
  );
  assert.equal(await statusOf(runId), 'success');
});
