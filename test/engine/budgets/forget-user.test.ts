import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../../harness/agents.ts';
import { addBudget, addPrice, windowsOf } from '../../../harness/budgets.ts';
import { addEndpoint } from '../../../harness/endpoints.ts';
import { testPipelines } from '../../../harness/pipelines.ts';
import { runRetentionRound } from '../../../harness/retention-round.ts';
import { startService } from '../../../harness/service.ts';
import { tablesWith } from '../../../harness/tables-with.ts';
import { sql } from '../../../src/db/sql.ts';
import { foldBudgets } from '../../../src/engine/budgets/fold-budgets.ts';

const service = await startService();
const pipelines = testPipelines(service.database.connection);
after(async () => {
  await pipelines.close();
  await service.close();
});
const { db, call, models } = service;
const model = 'cueline/echo';
await addPrice(service, { model, perToken: 0.0001 });
const { key } = await service.key();
await addEndpoint(service, key, { url: null, eventTypes: ['budget.threshold'] });

async function execute(path: string, user: string) {
  const body = { variables: { name: 'x' }, user };
  return call('POST', `${path}/execute`, { key, body });
}

async function fold(): Promise<void> {
  await sql`update budget_settlements set settled_at = settled_at - interval '1 minute'`.execute(
    db,
  );
  await foldBudgets({ db, pipelines, notifications: { publish: () => {} } });
}

async function erase(body: object): Promise<void> {
  const { body: erasure } = await call('POST', '/api/v1/erasures', { key, body });
  return completed(`/api/v1/erasures/${erasure.erasureId}`);
}

async function completed(at: string): Promise<void> {
  for (;;) {
    await runRetentionRound(db, service.database);
    const { body } = await call('GET', at, { key });
    if (body.status === 'completed') return;
  }
}

/** Tables of budgets and events that still name her. */
async function tablesOfBudgets(): Promise<string[]> {
  const tables = await tablesWith(db, 'Zerlina');
  return tables
    .toSorted()
    .filter((name) => /^budget|^events|^deliveries|^execution_queue/.test(name));
}

test('an erased user leaves no name in windows, settlements, reservations and events, and every figure', async () => {
  const agent = await addAgent(service, { model, config: { maxTokens: 10 } });
  const scope = { agentIds: [agent.id], per: 'user' } as const;
  const budgetId = await addBudget(service, { limitUSD: 0.004, ...scope });
  const silentId = await addBudget(service, { limitUSD: 0.004, ...scope });
  // All events of this budget are withheld.
  await sql`update budgets set events_hour = 999999999, events_written = 1000 where id = ${silentId}`.execute(
    db,
  );
  models.script({ cost: { usd: '0.002', known: true } });
  const first = await execute(agent.path, 'Zerlina');
  await ended(service, first.body.statusUrl, key);
  await fold();
  models.script({ cost: { usd: '0.0003', known: true } });
  const second = await execute(agent.path, 'Zerlina');
  await ended(service, second.body.statusUrl, key);
  assert.deepEqual(await tablesOfBudgets(), [
    'budget_settlements',
    'budget_windows',
    'budgets',
    'events',
  ]);

  const erasure = await call('POST', '/api/v1/erasures', { key, body: { user: 'Zerlina' } });
  // A later call of hers runs while the erasure completes.
  const held = models.hold();
  const running = await execute(agent.path, 'Zerlina');
  await held.arrived;
  const at = `/api/v1/erasures/${erasure.body.erasureId}`;
  await completed(at);
  const [window, ...others] = await windowsOf(db, budgetId);
  assert.deepEqual(others, []);
  assert.match(window?.bucket ?? '', /^erased-/);
  assert.deepEqual([window?.settled, window?.reserved], ['0.0023', '0.001']);
  held.release();
  await ended(service, running.body.statusUrl, key);
  await fold();
  for (const id of [budgetId, silentId]) {
    const [after, ...more] = await windowsOf(db, id);
    assert.deepEqual(more, []);
    assert.deepEqual([after?.calls, after?.reserved], [3, '0']);
  }
  assert.deepEqual(await tablesOfBudgets(), []);

  assert.equal((await execute(agent.path, 'Zerlina')).status, 202);
  assert.equal((await windowsOf(db, budgetId)).length, 2);
});

test('an erasure for one agent leaves windows that count other agents too', async () => {
  const agent = await addAgent(service, { model, config: { maxTokens: 10 } });
  const other = await addAgent(service, { model, config: { maxTokens: 10 } });
  const own = await addBudget(service, { limitUSD: 1, agentIds: [agent.id], per: 'user' });
  const both = await addBudget(service, {
    ...{ limitUSD: 1, agentIds: [agent.id, other.id], per: 'user' },
  });
  const { body } = await execute(agent.path, 'Masetto');
  await ended(service, body.statusUrl, key);
  await erase({ user: 'Masetto', agentId: agent.agentId });
  const buckets = async (id: string) => (await windowsOf(db, id)).map(({ bucket }) => bucket);
  assert.notDeepEqual(await buckets(own), ['Masetto']);
  assert.deepEqual(await buckets(both), ['Masetto']);
});
