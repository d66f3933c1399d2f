import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended, type TestAgent } from '../../../harness/agents.ts';
import { addBudget, addPrice, windowsOf } from '../../../harness/budgets.ts';
import { addEndpoint } from '../../../harness/endpoints.ts';
import { testPipelines } from '../../../harness/pipelines.ts';
import { startService } from '../../../harness/service.ts';
import { toId } from '../../../src/core/id.ts';
import { sql } from '../../../src/db/sql.ts';
import { foldBudgets, maintainWindows } from '../../../src/engine/budgets/fold-budgets.ts';

const service = await startService();
const pipelines = testPipelines(service.database.connection);
after(async () => {
  await pipelines.close();
  await service.close();
});
const { db } = service;
const model = 'cueline/echo';
await addPrice(service, { model, perToken: 0.0001 });
const { key } = await service.key();
await addEndpoint(service, key, {
  url: null,
  eventTypes: ['budget.threshold', 'budget.exhausted', 'budget.overrun'],
});
const agentFor = () => addAgent(service, { model, config: { maxTokens: 10 } });

/** An execution that costs so much, to its end. Returns its id. */
async function cost(agent: TestAgent, usd: string): Promise<string> {
  service.models.script({ cost: { usd, known: true } });
  const body = { variables: { name: 'x' } };
  const { status, body: accepted } = await service.call('POST', `${agent.path}/execute`, {
    ...{ key, body },
  });
  assert.equal(status, 202);
  await ended(service, accepted.statusUrl, key);
  return accepted.executionId;
}

/** Makes what is not folded old, and folds it. */
async function fold(): Promise<void> {
  await sql`update budget_settlements set settled_at = settled_at - interval '1 minute'`.execute(
    db,
  );
  await foldBudgets({ db, pipelines, notifications: { publish: () => {} } });
}

async function unfolded(): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from budget_settlements`.execute(db);
  return rows[0]?.n ?? 0;
}

async function eventsOf(budgetId: string) {
  const { rows } = await sql<{ type: string; data: string }>`
    select type, data from events where subject = ${budgetId} order by sequence`.execute(db);
  return rows.map(({ type, data }) => ({ type, data: JSON.parse(data) }));
}

test('a round folds what no admission has folded, and announces each threshold once', async () => {
  const agent = await agentFor();
  const budgetId = await addBudget(service, { limitUSD: 0.002, agentIds: [agent.id], name: 'Two' });
  await cost(agent, '0.001');
  const before = await windowsOf(db, budgetId);
  await fold();
  assert.equal(await unfolded(), 0);
  assert.deepEqual(await windowsOf(db, budgetId), before);
  const [event, ...others] = await eventsOf(budgetId);
  assert.deepEqual(others, []);
  const { windowStart: _, resetAt: __, ...data } = event?.data ?? {};
  assert.deepEqual(
    [event?.type, data],
    [
      'budget.threshold',
      {
        ...{ budgetId: toId('budget', budgetId), name: 'Two', bucket: '' },
        ...{ limitUSD: 0.002, settledUSD: 0.001, percent: 50 },
      },
    ],
  );
  await cost(agent, '0.0001');
  await fold();
  assert.equal((await eventsOf(budgetId)).length, 1);
});

test('what is younger than five seconds is left to admission', async () => {
  const agent = await agentFor();
  await addBudget(service, { limitUSD: 1, agentIds: [agent.id] });
  await fold();
  await cost(agent, '0.001');
  await sql`update budget_settlements set settled_at = clock_timestamp() + interval '1 minute'`.execute(
    db,
  );
  await foldBudgets({ db, pipelines, notifications: { publish: () => {} } });
  assert.equal(await unfolded(), 1);
  await fold();
});

test('the first refusal that waits for no running call, and each overrun, have an event', async () => {
  const agent = await agentFor();
  const budgetId = await addBudget(service, { limitUSD: 0.0015, agentIds: [agent.id] });
  const executionId = await cost(agent, '0.0012');
  const body = { variables: { name: 'x' } };
  for (let count = 0; count < 2; count++) {
    const { status } = await service.call('POST', `${agent.path}/execute`, { key, body });
    assert.equal(status, 429);
  }
  const events = await eventsOf(budgetId);
  assert.deepEqual(
    events.map(({ type, data }) => [type, data.percent ?? null]),
    [
      ['budget.overrun', null],
      ['budget.threshold', 50],
      ['budget.threshold', 80],
      ['budget.exhausted', null],
    ],
  );
  assert.deepEqual(
    [events[0]?.data.executionId, events[0]?.data.overrunUSD],
    [executionId, 0.0002],
  );
});

test('windows go after two periods, unless something is reserved or not folded', async () => {
  const agent = await agentFor();
  const budgetId = await addBudget(service, { limitUSD: 1, agentIds: [agent.id], period: 'hour' });
  await cost(agent, '0.001');
  const age = (hours: number) =>
    sql`
    update budget_windows set window_start = date_trunc('hour', clock_timestamp()) - make_interval(hours => ${hours}),
      window_end = date_trunc('hour', clock_timestamp()) - make_interval(hours => ${hours - 1})
    where budget_id = ${budgetId}`.execute(db);
  const exists = async () => {
    await maintainWindows(db);
    return (await windowsOf(db, budgetId)).length === 1;
  };
  await fold();
  await age(2);
  assert.equal(await exists(), true);
  await sql`update budget_windows set reserved = 1 where budget_id = ${budgetId}`.execute(db);
  await age(4);
  assert.equal(await exists(), true);
  await sql`update budget_windows set reserved = 0 where budget_id = ${budgetId}`.execute(db);
  assert.equal(await exists(), false);
});

test('a window that was deleted before its last settlement has its end again', async () => {
  const agent = await agentFor();
  const budgetId = await addBudget(service, { limitUSD: 1, agentIds: [agent.id] });
  await cost(agent, '0.001');
  await sql`delete from budget_windows where budget_id = ${budgetId}`.execute(db);
  await sql`update budget_settlements set delta_reserved = 0 where budget_id = ${budgetId}`.execute(
    db,
  );
  await fold();
  const { rows } = await sql<{ length: string }>`
    select (window_end - window_start > interval '27 days')::text as length from budget_windows
    where budget_id = ${budgetId}`.execute(db);
  assert.deepEqual(rows, [{ length: 'true' }]);
});

test('what has lost its budget is removed', async () => {
  const agent = await agentFor();
  const budgetId = await addBudget(service, { limitUSD: 1, agentIds: [agent.id] });
  await cost(agent, '0.001');
  await sql`delete from budgets where id = ${budgetId}`.execute(db);
  await maintainWindows(db);
  assert.deepEqual([await unfolded(), await windowsOf(db, budgetId)], [0, []]);
});

test('above its maximum of windows, new buckets of a budget share one', async () => {
  const agent = await agentFor();
  const scope = { agentIds: [agent.id], per: 'user' } as const;
  const budgetId = await addBudget(service, { limitUSD: 0.0015, ...scope });
  const asked = async (user: string) => {
    service.models.script({ cost: { usd: '0.001', known: true } });
    const body = { variables: { name: 'x' }, user };
    const { status, body: answer } = await service.call('POST', `${agent.path}/execute`, {
      ...{ key, body },
    });
    if (status === 202) await ended(service, answer.statusUrl, key);
    return status;
  };
  assert.equal(await asked('old'), 202);
  await sql`update budgets set windows = 1000000 where id = ${budgetId}`.execute(db);
  assert.deepEqual([await asked('old'), await asked('a'), await asked('b')], [429, 202, 429]);
  const buckets = (await windowsOf(db, budgetId)).map(({ bucket }) => bucket);
  assert.deepEqual(buckets, ['old', 'other']);
});
