import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { monthOf, monthStartMs } from '../../../../src/core/agent/limits.ts';
import { readClock } from '../../../../src/db/clock.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const agent = await addAgent(service);
const usage = async (options: object = { user: service.ownerId }) => {
  const { status, body } = await service.call('GET', '/api/v1/usage', options);
  assert.equal(status, 200);
  return body;
};

async function setUsed(month: number, used: number): Promise<void> {
  await sql`update limits set month = ${month}, month_used = ${used}
    where subject = ${service.workspaceId}`.execute(service.db);
}

test('the plan of a new workspace has no limit', async () => {
  const { ownerId: user } = await service.workspace();
  const now = await readClock(service.db);
  const body = await usage({ user });
  const later = await readClock(service.db);
  const months = [now, later].map((ms) => new Date(ms).toISOString().slice(0, 7));
  assert.ok(months.includes(body.month));
  const { month, resetAt, ...rest } = body;
  assert.deepEqual(rest, {
    ...{ plan: 'self-hosted', actionsUsed: 0, actionsPerMonth: null, actionsRemaining: null },
  });
  const [year = 0, number = 0] = month.split('-').map(Number);
  assert.equal(resetAt, new Date(Date.UTC(year, number, 1)).toISOString());
});

// A future month, so that no month begins during the test.
const ahead = monthOf(Date.UTC(2099, 11, 31));

test('accepted executions count, refused ones do not', async () => {
  await setUsed(ahead, 3);
  const { key } = await service.key();
  const path = `${agent.path}/execute`;
  const body = { variables: { name: 'x' } };
  for (let i = 0; i < 4; i++) await service.call('POST', path, { key, body });
  await service.call('POST', path, { key, body: { variables: {} } });
  assert.equal((await usage()).actionsUsed, 7);
});

test('the month never goes back', async () => {
  await setUsed(ahead, 9);
  const body = await usage();
  assert.deepEqual(
    [body.month, body.actionsUsed, body.resetAt],
    ['2099-12', 9, '2100-01-01T00:00:00.000Z'],
  );
});

test('the usage of a past month is zero', async () => {
  const last = monthOf(await readClock(service.db)) - 1;
  await setUsed(last, 9);
  const body = await usage();
  assert.equal(body.actionsUsed, 0);
  assert.notEqual(body.month, new Date(monthStartMs(last)).toISOString().slice(0, 7));
});

test('the remaining quota is never negative', async () => {
  await setUsed(ahead, 9);
  const remaining = async (actionsPerMonth: number) => {
    await sql`update workspaces set actions_per_month = ${actionsPerMonth}
      where id = ${service.workspaceId}`.execute(service.db);
    return (await usage()).actionsRemaining;
  };
  assert.deepEqual([await remaining(10), await remaining(9), await remaining(2)], [1, 0, 0]);
});

test('a viewer reads the usage of the own workspace', async () => {
  await setUsed(ahead, 5);
  assert.equal((await usage({ user: await service.member('viewer') })).actionsUsed, 5);
  const { ownerId } = await service.workspace();
  assert.equal((await usage({ user: ownerId })).actionsUsed, 0);
});
