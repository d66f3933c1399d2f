import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { addAgent } from '../../harness/agents.ts';
import { rowsOfQuery } from '../../harness/plan.ts';
import { startService } from '../../harness/service.ts';
import { addOpenRun, addWorkflow, step } from '../../harness/workflow-runs.ts';
import type { Db, Trx } from '../../src/store/connection/database.ts';
import {
  deleteExpiredIdempotencyKeys,
  deleteExpiredWorkflowIdempotencyKeys,
  wakeExecutions,
} from '../../src/store/execution/maintenance.ts';
import { promoteDelayed } from '../../src/store/execution/queue.ts';
import { removeTransientOutputs } from '../../src/store/history/bodies.ts';
import { sweep as sweepAttempts } from '../../src/store/people/sign-in-attempts.ts';
import { claimDueSchedules } from '../../src/store/workflow/schedules.ts';
import { removeTransientRunBodies } from '../../src/store/workflow/workflow-removal.ts';
import {
  claimDueSteps,
  claimDueStops,
  findDueAgents,
  listOverdueRuns,
  wakeSteps,
  wakeStops,
} from '../../src/store/workflow/workflow-steps.ts';

const service = await startService({ role: 'api' });
after(service.close);
const { db, workspaceId } = service;
const agent = await addAgent(service);
const workflow = await addWorkflow(service, { steps: [step({ name: 'a', agent })] });
const runId = await addOpenRun(db, workflow);

const many = 20_000;
const limit = 1_000;
const someRows = 50;

/** What fills the table with rows whose time has not come, and what asks for those whose time has. */
const questions: Record<string, [fill: ReturnType<typeof sql>, ask: (db: Db) => Promise<unknown>]> =
  {
    'delayed runs': [
      sql`insert into execution_queue (id, workspace_id, agent_id, tag, available_at)
        select gen_random_uuid(), ${workspaceId}::uuid, ${agent.id}::uuid, n, clock_timestamp() + interval '1 hour'
        from generate_series(1, ${many}::int) as n`,
      (asked) => promoteDelayed(asked, { withinMs: null, fromTag: 0 }),
    ],
    'delayed runs of late': [
      sql`select`,
      (asked) => promoteDelayed(asked, { withinMs: 5_000, fromTag: 0 }),
    ],
    'runs put off too far': [sql`select`, (asked) => wakeExecutions(asked, limit)],
    'idempotency keys': [
      sql`insert into idempotency
        select gen_random_uuid(), ${agent.id}::uuid, n, '', gen_random_uuid(), 'made', '{}', clock_timestamp() from generate_series(1, ${many}::int) as n`,
      (asked) => deleteExpiredIdempotencyKeys(asked, limit),
    ],
    'idempotency keys of workflows': [
      sql`insert into workflow_idempotency
        select gen_random_uuid(), ${workflow.id}::uuid, n, '', ${runId}::uuid, '{}', clock_timestamp() from generate_series(1, ${many}::int) as n`,
      (asked) => deleteExpiredWorkflowIdempotencyKeys(asked, limit),
    ],
    'outputs kept for a while': [
      sql`insert into transient_outputs (execution_id, ended_at)
        select gen_random_uuid(), clock_timestamp() from generate_series(1, ${many}::int) as n`,
      (asked) => removeTransientOutputs(asked, limit),
    ],
    'executions to be stopped': [
      sql`insert into workflow_steps (run_id, step, item, status, ready_at, agent_id)
        select ${runId}, 'a', n, 'canceling', clock_timestamp() + interval '1 hour', ${agent.id}::uuid
        from generate_series(1, ${many}::int) as n`,
      (asked) => claimDueStops(asked, limit),
    ],
    'executions to be stopped, put off too far': [sql`select`, (asked) => wakeStops(asked, limit)],
    'steps to be called': [
      sql`insert into workflow_steps (run_id, step, item, status, ready_at, variables, agent_id)
        select ${runId}, 'b', n, 'ready', clock_timestamp() + interval '1 hour', '{}', ${agent.id}::uuid
        from generate_series(1, ${many}::int) as n`,
      (asked) =>
        claimDueSteps(asked, [{ agentId: agent.id, stepsMax: limit }], {
          stepsMax: limit,
          bytesMax: 1,
        }),
    ],
    'agents with steps to be called': [sql`select`, (asked) => findDueAgents(asked, limit)],
    'steps to be called, put off too far': [sql`select`, (asked) => wakeSteps(asked, limit)],
    schedules: [
      sql`insert into workflow_schedules (id, workflow_id, workspace_id, cron, time_zone, missed, input, next_at)
        select gen_random_uuid(), ${workflow.id}::uuid, ${workspaceId}::uuid, '@daily', 'UTC', 'skip', '{}',
          clock_timestamp() + interval '1 hour'
        from generate_series(1, ${many}::int)`,
      (asked) => claimDueSchedules(asked as Trx, { limit, failed: [] }),
    ],
    'what runs held, kept for a while': [
      sql`insert into workflow_runs
        select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'status', 'success', 'bodies', 'transient',
          'completed_at', clock_timestamp()))).*
        from workflow_runs r, generate_series(1, ${many}::int) where r.id = ${runId}`,
      (asked) => removeTransientRunBodies(asked, limit),
    ],
    'tries to sign in': [
      sql`insert into sign_in_attempts (id, key, count, last_request)
        select gen_random_uuid(), n, 1, floor(extract(epoch from clock_timestamp()) * 1000)::bigint
        from generate_series(1, ${many}::int) as n`,
      sweepAttempts,
    ],
    'runs of workflows that are over': [
      sql`insert into workflow_runs
        select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid()))).*
        from workflow_runs r, generate_series(1, ${many}::int) where r.id = ${runId}`,
      (asked) => listOverdueRuns(asked, limit),
    ],
  };

for (const [what, [fill, ask]] of Object.entries(questions)) {
  test(`${what}: whoever looks for what is due reads nothing of what is not`, async () => {
    await fill.execute(db);
    await sql`analyze`.execute(db);
    const rows = await rowsOfQuery(db, ask);
    assert.ok(rows <= someRows, `${rows} rows`);
  });
}
