import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../../harness/created-workflows.ts';
import { startService } from '../../../../harness/service.ts';
import { fromId, toId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';

// No worker fires schedules, so a due tick stays due during a test.
const service = await startService({ role: 'api' });
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);
const workflow = await makeWorkflow(service, greeting(agent.agentId));
const path = `${workflow.path}/schedules`;

const input = { name: 'x' };
const create = (body: object) => service.call('POST', path, { key, body });

test('creates a schedule and returns its next ticks', async () => {
  const made = await create({
    cron: '30 2 * * *',
    timeZone: 'Europe/Berlin',
    input: { name: 'x' },
  });
  assert.equal(made.status, 201);
  const { scheduleId, nextTimes, createdAt, updatedAt, ...rest } = made.body;
  assert.deepEqual(rest, {
    ...{ workflowId: workflow.workflowId, cron: '30 2 * * *', timeZone: 'Europe/Berlin' },
    ...{ missed: 'skip', input: { name: 'x' }, enabled: true, lastAt: null, lastError: null },
    createdBy: toId('user', service.ownerId),
  });
  assert.equal(nextTimes.length, 5);
  const format = { timeZone: 'Europe/Berlin', timeStyle: 'short', hourCycle: 'h23' } as const;
  const clocks = nextTimes.map((text: string) =>
    new Intl.DateTimeFormat('en-GB', format).format(new Date(text)),
  );
  // If daylight saving time starts at two, half past two becomes three.
  assert.ok(
    clocks.every((clock: string) => clock === '02:30' || clock === '03:00'),
    clocks,
  );
  assert.equal(made.headers.get('location'), `${path}/${scheduleId}`);
  const read = await service.call('GET', `${path}/${scheduleId}`, { key });
  assert.deepEqual([read.body, read.headers.get('etag')], [made.body, '"1"']);
});

test('a schedule may have a limit of the cost of each run', async () => {
  const { status, body } = await create({ cron: '0 0 1 1 *', input, maxCostUSD: 0.05 });
  assert.deepEqual([status, body.maxCostUSD], [201, 0.05]);
  const at = `${path}/${body.scheduleId}`;
  const change = async (to: object) => (await service.call('PATCH', at, { key, body: to })).body;
  assert.equal((await change({ enabled: false })).maxCostUSD, 0.05);
  assert.equal((await change({ maxCostUSD: 1e-8 })).maxCostUSD, 1e-8);
  assert.ok(!('maxCostUSD' in (await change({ maxCostUSD: null }))));
  const refused = await create({ cron: '0 0 1 1 *', input, maxCostUSD: 0 });
  assert.deepEqual([refused.status, refused.body.code], [400, 'INVALID_REQUEST']);
  await service.call('DELETE', at, { key });
});

test('a number in the input is stored exactly, or rejected by name', async () => {
  const withInput = (numbers: string) => {
    const body = `{"cron":"0 0 1 1 *","input":{"name":"x","numbers":[${numbers}]}}`;
    return service.call('POST', path, { key, body });
  };
  const { status, body } = await withInput('1.0, -0, 1e21, 0.30000000000000004, 5e-324');
  const kept = [1, 0, 1e21, 0.1 + 0.2, Number.MIN_VALUE];
  assert.deepEqual([status, body.input.numbers], [201, kept]);
  await service.call('DELETE', `${path}/${body.scheduleId}`, { key });
  const refused = await withInput(`2, ${'1'.repeat(1_000)}, 3`);
  assert.deepEqual([refused.status, refused.body.code], [400, 'INVALID_REQUEST']);
  assert.match(refused.body.message, /number 1{40}… /);
});

test('a schedule is changed, disabled and deleted', async () => {
  const { scheduleId } = (await create({ cron: '0 0 1 1 *', input })).body;
  const at = `${path}/${scheduleId}`;
  const headers = { 'if-match': '"1"' };
  const body = { cron: '0 0 31 12 *', missed: 'once', input: { name: 'y' } };
  const changed = await service.call('PATCH', at, { key, headers, body });
  assert.deepEqual({ ...changed.body, ...body }, changed.body);
  assert.match(changed.body.nextTimes[0], /-12-31T00:00:00.000Z$/);
  assert.equal((await service.call('PATCH', at, { key, headers, body })).status, 412);
  const off = await service.call('PATCH', at, { key, body: { enabled: false } });
  assert.deepEqual([off.body.enabled, off.body.nextTimes], [false, []]);
  const { schedules } = (await service.call('GET', path, { key })).body;
  assert.equal(schedules[0].scheduleId, scheduleId);
  assert.equal((await service.call('DELETE', at, { key })).status, 204);
  assert.equal((await service.call('GET', at, { key })).status, 404);
  assert.equal((await service.call('DELETE', at, { key })).status, 404);
});

test('a due tick survives a change that does not affect the times', async () => {
  const times = { cron: '0 0 1 1 *', timeZone: 'Europe/Berlin' };
  const { body: made } = await create({ ...times, input, enabled: false });
  const at = `${path}/${made.scheduleId}`;
  const change = (body: object) => service.call('PATCH', at, { key, body });
  await change({ enabled: true });
  const due = '2020-01-01T00:00:00.000Z';
  const set = sql`update workflow_schedules set next_at = ${due}
    where id = ${fromId('schedule', made.scheduleId)}`;
  await set.execute(service.db);
  const nextOf = (response: { body: { nextTimes: string[] } }) => response.body.nextTimes[0];
  for (const body of [{ input: { name: 'y' } }, { missed: 'once' }, { ...times, missed: 'skip' }]) {
    assert.equal(nextOf(await change(body)), due, JSON.stringify(body));
  }
  assert.notEqual(nextOf(await change({ timeZone: 'UTC' })), due);
  await set.execute(service.db);
  assert.equal(nextOf(await change({ enabled: false })), undefined);
  assert.notEqual(nextOf(await change({ enabled: true })), due);
});

test('a change without a difference keeps the ETag', async () => {
  const { body: made } = await create({ cron: '0 0 1 1 *', input });
  const at = `${path}/${made.scheduleId}`;
  const { cron, timeZone, missed, enabled } = made;
  for (const body of [{}, { cron, timeZone, missed, enabled, input }]) {
    const response = await service.call('PATCH', at, { key, body });
    assert.deepEqual([response.body, response.headers.get('etag')], [made, '"1"']);
  }
});

test('an invalid schedule is rejected, and a schedule belongs to one workflow', async () => {
  for (const body of [{ cron: '0 2 * *' }, { cron: '0 2 * * *', timeZone: 'Mars' }]) {
    const refused = await create({ input, ...body });
    assert.deepEqual([refused.status, refused.body.code], [400, 'INVALID_REQUEST'], body.cron);
  }
  const { scheduleId } = (await create({ cron: '0 0 1 1 *', input })).body;
  const other = await makeWorkflow(service, greeting(agent.agentId));
  const elsewhere = `${other.path}/schedules/${scheduleId}`;
  assert.equal((await service.call('GET', elsewhere, { key })).status, 404);
  const wrong = await service.call('PATCH', `${path}/${scheduleId}`, { key, body: { cron: 'x' } });
  assert.equal(wrong.status, 400);
});

test('times that never occur are rejected, also in a change and for a switched-off schedule', async () => {
  const made = (await create({ cron: '0 0 29 2 *', input })).body;
  assert.equal(made.nextTimes.length, 5);
  const at = `${path}/${made.scheduleId}`;
  for (const cron of ['0 0 30 2 *', '0 0 31 4,6 *', '2030-01-01T00:00:00']) {
    for (const refused of [
      await create({ cron, input }),
      await create({ cron, input, enabled: false }),
      await service.call('PATCH', at, { key, body: { cron } }),
    ]) {
      assert.deepEqual([refused.status, refused.body.code], [400, 'INVALID_REQUEST'], cron);
      assert.match(refused.body.message, /"cron"/);
    }
  }
  assert.deepEqual((await service.call('GET', at, { key })).body, made);
});

test('an input without a required field is rejected, as on execute', async () => {
  const cron = '0 0 1 1 *';
  const executed = await service.call('POST', `${workflow.path}/execute`, {
    key,
    body: { input: { name: null } },
  });
  const { requestId: _, ...expected } = executed.body;
  assert.deepEqual([expected.code, expected.missingInput], ['MISSING_VARIABLES', ['name']]);
  const refusedAlike = async (response: ReturnType<typeof create>) => {
    const { status, body } = await response;
    const { requestId: __, ...fields } = body;
    assert.deepEqual([status, fields], [400, expected]);
  };
  for (const given of [{}, { input: {} }, { input: { name: null } }]) {
    await refusedAlike(create({ cron, ...given }));
    await refusedAlike(create({ cron, ...given, enabled: false }));
  }
  const made = (await create({ cron, input })).body;
  const at = `${path}/${made.scheduleId}`;
  const change = (body: object) => service.call('PATCH', at, { key, body });
  await refusedAlike(change({ input: { other: 1 } }));
  assert.deepEqual((await service.call('GET', at, { key })).body, made);
});

test('a schedule that is no longer valid can be disabled, but not on', async () => {
  const { scheduleId } = (await create({ cron: '0 0 1 1 *', input })).body;
  await sql`update workflow_schedules set cron = '2030-01-01T00:00:00'
    where id = ${fromId('schedule', scheduleId)}`.execute(service.db);
  const change = (body: object) => service.call('PATCH', `${path}/${scheduleId}`, { key, body });
  assert.equal((await change({ enabled: false })).status, 200);
  assert.equal((await change({ enabled: true })).status, 400);
  assert.equal((await change({ enabled: true, cron: '0 0 1 1 *' })).status, 200);
});

test('a schedule without the input of a later version can be changed and disabled, but not on', async () => {
  const other = await makeWorkflow(service, greeting(agent.agentId));
  const schedules = `${other.path}/schedules`;
  const { body } = await service.call('POST', schedules, {
    key,
    body: { cron: '0 0 1 1 *', input },
  });
  const definition = { ...greeting(agent.agentId), input: { required: ['name', 'tone'] } };
  const version = await service.call('POST', `${other.path}/versions`, {
    key,
    body: { definition },
  });
  const { workflowVersionId } = version.body;
  const pinned = await service.call('PATCH', other.path, { key, body: { workflowVersionId } });
  assert.equal(pinned.status, 200);
  const change = (patch: object) =>
    service.call('PATCH', `${schedules}/${body.scheduleId}`, { key, body: patch });
  assert.equal((await change({ cron: '0 0 2 1 *', enabled: false })).status, 200);
  const on = await change({ enabled: true });
  assert.deepEqual([on.status, on.body.missingInput], [400, ['tone']]);
  assert.equal((await change({ enabled: true, input: { name: 'x', tone: 'y' } })).status, 200);
});
