import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { during } from '../../../../harness/locks.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const agent = await addAgent(service);
const user = service.ownerId;
const { key } = await service.key();
const setPlan = (body: object, options: object = { user }) =>
  service.call('PUT', '/api/v1/plan', { ...options, body });
const execute = () =>
  service.call('POST', `${agent.path}/execute`, { key, body: { variables: { name: 'x' } } });

/** Usage of a future month, so that no month begins during the test. */
async function setUsed(used: number): Promise<void> {
  await sql`update limits set month = 1559, month_used = ${used}
    where subject = ${service.workspaceId}`.execute(service.db);
}

test('the plan is returned and shown in the usage', async () => {
  const plan = { name: 'Team', actionsPerMonth: 1_000_000_000_000 };
  const { status, body } = await setPlan(plan);
  assert.deepEqual([status, body], [200, plan]);
  const usage = await service.call('GET', '/api/v1/usage', { user });
  assert.deepEqual(
    [usage.body.plan, usage.body.actionsPerMonth],
    [plan.name, plan.actionsPerMonth],
  );
});

test('the plan applies from the next execution on, exactly to its last action', async () => {
  await setUsed(10);
  await setPlan({ name: 'Small', actionsPerMonth: 15 });
  const responses = await Promise.all(Array.from({ length: 20 }, execute));
  assert.equal(responses.filter(({ status }) => status === 202).length, 5);
  for (const { status, body } of responses) {
    if (status === 202) continue;
    assert.deepEqual([status, body.code], [429, 'QUOTA_EXCEEDED']);
    assert.partialDeepStrictEqual(body.limitedBy, { scope: 'quota', window: 'month', limit: 15 });
  }
  await setPlan({ name: 'Small', actionsPerMonth: 16 });
  assert.deepEqual([(await execute()).status, (await execute()).status], [202, 429]);
});

test('a plan below the usage rejects everything, a plan without a limit accepts everything', async () => {
  await setUsed(10);
  await setPlan({ name: 'None', actionsPerMonth: 0 });
  assert.equal((await execute()).status, 429);
  await setPlan({ name: 'All', actionsPerMonth: null });
  assert.equal((await execute()).status, 202);
});

test('waits for executions that are being admitted', async () => {
  const { status } = await during(
    service.db,
    (trx) => sql`select from limits where subject = ${service.workspaceId} for update`.execute(trx),
    () => setPlan({ name: 'Later', actionsPerMonth: null }),
  );
  assert.equal(status, 200);
});

test('an owner’s key with "own" may set it', async () => {
  const owner = await service.key({ permissions: ['own'] });
  const { status } = await setPlan({ name: 'Key', actionsPerMonth: null }, { key: owner.key });
  assert.equal(status, 200);
});
