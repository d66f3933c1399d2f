import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { fromId } from '../../src/core/id.ts';
import { addAgent } from '../harness/agents.ts';
import { greeting, makeWorkflow } from '../harness/made-workflows.ts';
import { startService } from '../harness/service.ts';

/** Two processes that work look at the same schedules once a second. */
const service = await startService();
const other = await startService({ beside: service });
after(async () => {
  await other.close();
  await service.close();
});
const { key } = await service.key();
const agent = await addAgent(service);

async function scheduled(more: Record<string, unknown> = {}) {
  const { path } = await makeWorkflow(service, greeting(agent.agentId));
  const body = { cron: '0 0 1 1 *', input: { name: 'night' }, ...more };
  const made = await service.call('POST', `${path}/schedules`, { key, body });
  assert.equal(made.status, 201);
  const schedulePath = `${path}/schedules/${made.body.scheduleId}`;
  return { path, schedulePath, id: fromId('schedule', made.body.scheduleId) };
}

/** As if the tick had come so long ago. */
async function due(id: string | null, lateMs: number): Promise<string> {
  const { rows } = await sql<{ nextAt: Date }>`
    update workflow_schedules
    set next_at = date_trunc('milliseconds', clock_timestamp() - ${lateMs} * interval '1 ms')
    where id = ${id} returning next_at`.execute(service.db);
  return rows[0]?.nextAt.toISOString() ?? '';
}

async function movedOn(id: string | null): Promise<void> {
  for (;;) {
    const { rows } = await sql`
      select from workflow_schedules where id = ${id} and next_at > clock_timestamp()`.execute(
      service.db,
    );
    if (rows.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function runsOf(path: string) {
  return (await service.call('GET', `${path}/runs`, { key })).body;
}

test('exactly one of them fires each tick, of many that are due at once', async () => {
  const many = await Promise.all(Array.from({ length: 12 }, () => scheduled()));
  for (let round = 1; round <= 3; round++) {
    const ticks = await Promise.all(many.map(({ id }) => due(id, 5)));
    await Promise.all(many.map(({ id }) => movedOn(id)));
    for (const [place, { path, schedulePath }] of many.entries()) {
      const { pagination, runs } = await runsOf(path);
      assert.deepEqual([pagination.total, runs[0].trigger], [round, 'schedule']);
      const { body } = await service.call('GET', schedulePath, { key });
      assert.equal(body.lastAt, ticks[place]);
    }
  }
});

test('the run is given what the schedule holds', async () => {
  const { path, id } = await scheduled();
  await due(id, 5);
  await movedOn(id);
  const [run] = (await runsOf(path)).runs;
  const { body } = await service.call('GET', `${path}/runs/${run.workflowRunId}?wait=30`, { key });
  assert.deepEqual([body.status, body.output], ['success', 'Hello night']);
});

test('missed: passed over, or one run for all of them', async () => {
  const [skip, once] = [await scheduled(), await scheduled({ missed: 'once' })];
  for (const { id } of [skip, once]) await due(id, 3 * 366 * 86_400_000);
  for (const { id } of [skip, once]) await movedOn(id);
  assert.equal((await runsOf(skip.path)).pagination.total, 0);
  assert.equal((await runsOf(once.path)).pagination.total, 1);
});

test('a tick whose run was started by a process that died then is only moved on', async () => {
  const { path, id } = await scheduled();
  const tick = await due(id, 5);
  await movedOn(id);
  // As it stood before: the run is there, the schedule has not moved.
  await sql`update workflow_schedules set next_at = ${tick} where id = ${id}`.execute(service.db);
  await movedOn(id);
  assert.equal((await runsOf(path)).pagination.total, 1);
});

test('a workflow that is switched off passes its ticks, and one that is off never ticks', async () => {
  const [off, still] = [await scheduled(), await scheduled({ enabled: false })];
  await service.call('PATCH', off.path, { key, body: { enabled: false } });
  await due(off.id, 5);
  await movedOn(off.id);
  assert.equal((await runsOf(off.path)).pagination.total, 0);
  const { body } = await service.call('GET', still.schedulePath, { key });
  assert.deepEqual(body.nextTimes, []);
  // Refusals are logged, and that was what was to be seen.
  for (const one of [service, other]) {
    const kept = one.faults.filter(
      (line) => (line as { code?: string }).code !== 'WORKFLOW_NOT_ACTIVE',
    );
    one.faults.splice(0, one.faults.length, ...kept);
  }
});
