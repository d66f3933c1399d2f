import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { windowsOf } from '../../../harness/budgets.ts';
import { freshId } from '../../../harness/fresh-id.ts';
import { startService } from '../../../harness/service.ts';
import { addWorkflow, endOfRun, step, withText } from '../../../harness/workflow-runs.ts';
import { storedId } from '../../../src/core/id.ts';
import { sql } from '../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { db } = service;
const { key } = await service.key();
const agent = await addAgent(service, { user: '{{text}}' });
const workflow = await addWorkflow(service, {
  steps: [step({ name: 'a', agent, ...withText('x') })],
});
const path = `/api/v1/workflows/${workflow.workflowId}`;

/** As a process of the previous version registers its worker. */
async function addEarlier(): Promise<string> {
  const id = freshId();
  await sql`
    insert into workers (id, lease_until, opens_urls, keeps_budgets, runs_tools)
    values (${id}, clock_timestamp() + interval '1 hour', true, true, true)`.execute(db);
  return id;
}

const remove = (id: string) => sql`delete from workers where id = ${id}`.execute(db);
const execute = (more: object) =>
  service.call('POST', `${path}/execute`, { key, body: { input: {}, ...more } });
const createSchedule = (body: object) =>
  service.call('POST', `${path}/schedules`, { key, body: { cron: '0 0 1 1 *', ...body } });

test('no run and no schedule has a limit beside a worker that keeps none', async () => {
  const earlier = await addEarlier();
  for (const { status, body } of [
    await execute({ maxCostUSD: 1 }),
    await createSchedule({ maxCostUSD: 1 }),
  ]) {
    assert.deepEqual([status, body.code], [503, 'UNAVAILABLE']);
    assert.match(body.message, /Workers of an earlier version/);
  }
  const { body: unlimited } = await createSchedule({});
  const at = `${path}/schedules/${unlimited.scheduleId}`;
  const change = () => service.call('PATCH', at, { key, body: { maxCostUSD: 1 } });
  assert.equal((await change()).status, 503);
  service.faults.length = 0;
  // Whoever reads the workers before this one is there still meets the trigger.
  await assert.rejects(
    sql`update workflow_schedules set max_cost_usd = 1`.execute(db),
    /earlier version/,
  );
  const { status, body: started } = await execute({});
  assert.equal(status, 202);
  // Otherwise the next test may hold its call.
  await endOfRun(service, workflow, storedId('workflowRun', started.workflowRunId));
  await remove(earlier);
  assert.equal((await change()).status, 200);
  await assert.rejects(addEarlier(), /earlier version/);
  await service.call('DELETE', at, { key });
  await remove(await addEarlier());
});

test('no worker that keeps none starts beside a run with a limit, until its last execution has ended', async () => {
  const held = service.models.hold();
  const { body } = await execute({ maxCostUSD: 1 });
  await held.arrived;
  await assert.rejects(addEarlier(), /earlier version/);
  const runId = storedId('workflowRun', body.workflowRunId);
  await sql`
    update workflow_runs set status = 'canceled', completed_at = clock_timestamp(), error_code = 'CANCELED', error = ''
    where id = ${runId}`.execute(db);
  await assert.rejects(addEarlier(), /earlier version/);
  held.release();
  for (;;) {
    const { rows } = await sql`select from execution_queue`.execute(db);
    if (rows.length === 0) break;
  }
  await remove(await addEarlier());
  await endOfRun(service, workflow, runId);
});

test('maintenance of such a worker, which has no lease any more, forgets no window of a run that may call agents', async () => {
  const held = service.models.hold();
  const { body } = await execute({ maxCostUSD: 1 });
  await held.arrived;
  const runId = storedId('workflowRun', body.workflowRunId);
  // As that version deletes what has no budget.
  const maintain = () =>
    sql`delete from budget_windows w where not exists (select from budgets b where b.id = w.budget_id)`.execute(
      db,
    );
  await maintain();
  assert.equal((await windowsOf(db, runId)).length, 1);
  held.release();
  await endOfRun(service, workflow, runId);
  await maintain();
  assert.deepEqual(await windowsOf(db, runId), []);
});
