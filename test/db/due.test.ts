import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { rowsOfQuery } from '../../harness/plan.ts';
import { startService } from '../../harness/service.ts';
import { addOpenRun, addWorkflow, step } from '../../harness/workflow-runs.ts';
import type { Db, Trx } from '../../src/db/database.ts';
import { type Sql, sql } from '../../src/db/sql.ts';
import { deleteExpiredIdempotencyKeys } from '../../src/engine/admit/idempotency.ts';
import {
  claimDueSteps,
  claimDueStops,
  findDueAgents,
  listOverdueRuns,
  wakeSteps,
  wakeStops,
} from '../../src/engine/advance/workflow-steps.ts';
import { wakeExecutions } from '../../src/engine/run/maintenance.ts';
import { promoteDelayed } from '../../src/engine/run/queue.ts';
import { deleteTransientOutputs } from '../../src/features/history/statements/bodies.ts';
import { removeTransientRunBodies } from '../../src/features/history/statements/workflow-deletion.ts';
import { sweep as sweepAttempts } from '../../src/features/people/statements/sign-in-attempts.ts';
import { claimDueSchedules } from '../../src/features/workflows/statements/schedules.ts';

const service = await startService({ role: 'api' });
after(service.close);
const { db, workspaceId } = service;
const agent = await addAgent(service);
const workflow = await addWorkflow(service, { steps: [step({ name: 'a', agent })] });
const runId = await addOpenRun(db, workflow);

const many = 20_000;
const limit = 1_000;
const someRows = 50;

/** Fills a table with rows that are not due, and selects the due ones. */
const selections: Record<string, [fill: Sql, ask: (db: Db) => Promise<unknown>]> = {
  'delayed executions': [
    sql`insert into execution_queue (id, workspace_id, agent_id, prompt_version_id, executed_at, source, agent_name,
          prompt_version_label, model, input_variables, settings, tag, available_at)
        select gen_random_uuid(), ${workspaceId}::uuid, ${agent.id}::uuid, ${agent.id}::uuid, clock_timestamp(), 'api',
          'A', 'v1', 'cueline/echo', '{}', '{}', n, clock_timestamp() + interval '1 hour'
        from generate_series(1, ${many}::int) as n`,
    (counted) => promoteDelayed(counted, { withinMs: null, fromTag: 0 }),
  ],
  'recently delayed executions': [
    sql`select`,
    (counted) => promoteDelayed(counted, { withinMs: 5_000, fromTag: 0 }),
  ],
  'executions delayed too far': [sql`select`, (counted) => wakeExecutions(counted, limit)],
  'idempotency keys': [
    sql`insert into idempotency
        select gen_random_uuid(), ${agent.id}::uuid, n, '', gen_random_uuid(), 'made', '{}', clock_timestamp() from generate_series(1, ${many}::int) as n`,
    (counted) => deleteExpiredIdempotencyKeys(counted, limit),
  ],
  'transient outputs': [
    sql`insert into transient_outputs (execution_id, ended_at)
        select gen_random_uuid(), clock_timestamp() from generate_series(1, ${many}::int) as n`,
    (counted) => deleteTransientOutputs(counted, limit),
  ],
  'steps to stop': [
    sql`insert into workflow_steps (run_id, step, item, status, ready_at, agent_id)
        select ${runId}, 'a', n, 'canceling', clock_timestamp() + interval '1 hour', ${agent.id}::uuid
        from generate_series(1, ${many}::int) as n`,
    (counted) => claimDueStops(counted, limit),
  ],
  'steps to stop, delayed too far': [sql`select`, (counted) => wakeStops(counted, limit)],
  'steps to call': [
    sql`insert into workflow_steps (run_id, step, item, status, ready_at, variables, agent_id)
        select ${runId}, 'b', n, 'ready', clock_timestamp() + interval '1 hour', '{}', ${agent.id}::uuid
        from generate_series(1, ${many}::int) as n`,
    (counted) =>
      claimDueSteps(counted, [{ agentId: agent.id, stepsMax: limit }], {
        stepsMax: limit,
        bytesMax: 1,
      }),
  ],
  'agents with steps to call': [sql`select`, (counted) => findDueAgents(counted, limit)],
  'steps to call, delayed too far': [sql`select`, (counted) => wakeSteps(counted, limit)],
  schedules: [
    sql`insert into workflow_schedules (id, workflow_id, workspace_id, cron, time_zone, missed, input, next_at)
        select gen_random_uuid(), ${workflow.id}::uuid, ${workspaceId}::uuid, '@daily', 'UTC', 'skip', '{}',
          clock_timestamp() + interval '1 hour'
        from generate_series(1, ${many}::int)`,
    (counted) => claimDueSchedules(counted as Trx, { limit, failed: [] }),
  ],
  'transient bodies of workflow runs': [
    sql`insert into workflow_runs
        select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'status', 'success', 'bodies', 'transient',
          'completed_at', clock_timestamp()))).*
        from workflow_runs r, generate_series(1, ${many}::int) where r.id = ${runId}`,
    (counted) => removeTransientRunBodies(counted, limit),
  ],
  'sign-in attempts': [
    sql`insert into sign_in_attempts (id, key, count, last_request)
        select gen_random_uuid(), n, 1, floor(extract(epoch from clock_timestamp()) * 1000)::bigint
        from generate_series(1, ${many}::int) as n`,
    sweepAttempts,
  ],
  'overdue workflow runs': [
    sql`insert into workflow_runs
        select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid()))).*
        from workflow_runs r, generate_series(1, ${many}::int) where r.id = ${runId}`,
    (counted) => listOverdueRuns(counted, limit),
  ],
};

for (const [what, [fill, ask]] of Object.entries(selections)) {
  test(`${what}: selecting due rows does not read the others`, async () => {
    await fill.execute(db);
    await sql`analyze`.execute(db);
    const rows = await rowsOfQuery(db, ask);
    assert.ok(rows <= someRows, `${rows} rows`);
  });
}
