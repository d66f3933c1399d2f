import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../harness/created-workflows.ts';
import { startService } from '../../../harness/service.ts';
import { fromId } from '../../../src/core/id.ts';
import { sql } from '../../../src/db/sql.ts';

/** Two worker processes poll the same schedules once a second. */
const service = await startService();
const other = await startService({ sharedWith: service });
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

/** Moves the tick into the past. */
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

async function errorOf({ schedulePath }: { readonly schedulePath: string }) {
  return (await service.call('GET', schedulePath, { key })).body.lastError;
}

async function runsOf(path: string) {
  return (await service.call('GET', `${path}/runs`, { key })).body;
}

test('the runs of a schedule have its limit of cost', async () => {
  const { path, id } = await scheduled({ maxCostUSD: 0.05 });
  await due(id, 5);
  await movedOn(id);
  const { runs } = await runsOf(path);
  assert.deepEqual([runs.length, runs[0].maxCostUSD], [1, 0.05]);
});

test('exactly one process fires each tick', async () => {
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

test('the workflow run gets the input of the schedule', async () => {
  const { path, id } = await scheduled();
  await due(id, 5);
  await movedOn(id);
  const [run] = (await runsOf(path)).runs;
  const { body } = await service.call('GET', `${path}/runs/${run.workflowRunId}?wait=30`, { key });
  assert.deepEqual([body.status, body.output], ['success', 'Hello night']);
});

test('missed ticks are skipped or start one workflow run', async () => {
  const [skip, once] = [await scheduled(), await scheduled({ missed: 'once' })];
  for (const { id } of [skip, once]) await due(id, 3 * 366 * 86_400_000);
  for (const { id } of [skip, once]) await movedOn(id);
  assert.equal((await runsOf(skip.path)).pagination.total, 0);
  assert.equal((await runsOf(once.path)).pagination.total, 1);
});

test('a tick that a killed process has fired is not fired again', async () => {
  const { path, id } = await scheduled();
  const tick = await due(id, 5);
  await movedOn(id);
  // The state after a kill: the workflow run exists, the schedule has not advanced.
  await sql`update workflow_schedules set next_at = ${tick} where id = ${id}`.execute(service.db);
  await movedOn(id);
  assert.equal((await runsOf(path)).pagination.total, 1);
});

test('a disabled workflow skips its ticks, and a disabled schedule never ticks', async () => {
  const [off, still] = [await scheduled(), await scheduled({ enabled: false })];
  await service.call('PATCH', off.path, { key, body: { enabled: false } });
  const tick = await due(off.id, 5);
  await movedOn(off.id);
  assert.equal((await runsOf(off.path)).pagination.total, 0);
  const reported = await errorOf(off);
  assert.deepEqual([reported.at, reported.code], [tick, 'WORKFLOW_NOT_ACTIVE']);
  // A skipped tick reports nothing new.
  await due(off.id, 3 * 366 * 86_400_000);
  await movedOn(off.id);
  assert.deepEqual(await errorOf(off), reported);
  const { body } = await service.call('GET', still.schedulePath, { key });
  assert.deepEqual(body.nextTimes, []);
});

test('input that a later version requires is reported until a workflow run starts or the input changes', async () => {
  const first = await scheduled();
  const definition = { ...greeting(agent.agentId), input: { required: ['name', 'tone'] } };
  const version = { key, body: { definition } };
  const added = await service.call('POST', `${first.path}/versions`, version);
  const pin = (workflowVersionId: string) =>
    service.call('PATCH', first.path, { key, body: { workflowVersionId } });
  const { workflowVersionId } = (await service.call('GET', first.path, { key })).body;
  await pin(added.body.workflowVersionId);
  const fail = async () => {
    const at = await due(first.id, 5);
    await movedOn(first.id);
    const message = 'Required input is missing: tone.';
    assert.deepEqual(await errorOf(first), { at, code: 'MISSING_VARIABLES', message });
  };
  await fail();
  const body = { input: { name: 'night', tone: 'kind' } };
  const changed = await service.call('PATCH', first.schedulePath, { key, body });
  assert.equal(changed.body.lastError, null);
  await sql`update workflow_schedules set input = '{"name":"night"}' where id = ${first.id}`.execute(
    service.db,
  );
  await fail();
  assert.equal((await runsOf(first.path)).pagination.total, 0);
  await pin(workflowVersionId);
  await due(first.id, 5);
  await movedOn(first.id);
  assert.equal((await runsOf(first.path)).pagination.total, 1);
  assert.equal(await errorOf(first), null);
});

/** Removes the logged refusals, which these tests expect. */
afterEach(() => {
  for (const { faults } of [service, other]) {
    const seen = ['WORKFLOW_NOT_ACTIVE', 'MISSING_VARIABLES'];
    const kept = faults.filter((line) => !seen.includes((line as { code?: string }).code ?? ''));
    faults.splice(0, faults.length, ...kept);
  }
});
