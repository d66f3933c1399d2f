import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { batchWhen, jsonLines, namedLines, unlimited, upload } from '../../../harness/batches.ts';
import { addBudget, addPrice, windowsOf } from '../../../harness/budgets.ts';
import { startService } from '../../../harness/service.ts';
import { emitEnd } from '../../../src/core/model/model-events.ts';
import { type ModelPort, noUsage } from '../../../src/core/model/model-port.ts';
import { sql } from '../../../src/db/sql.ts';

/** Each call costs its bound. */
const models: ModelPort = {
  async call(_call, emit) {
    emit({ type: 'text', text: 'x' });
    const cost = { usd: '0.001', known: true };
    emitEnd(emit, { usage: noUsage, finishReason: 'stop', cost });
  },
};
const service = await startService({ models });
after(service.close);
const model = 'cueline/echo';
await addPrice(service, { model, perToken: 0.0001 });
const { key } = await service.key({ rateLimits: unlimited });
const agentFor = () => addAgent(service, { model, config: { maxTokens: 10 } });

test('a batch waits for its budget, and goes on when that has room', async () => {
  const agent = await agentFor();
  const budgetId = await addBudget(service, { limitUSD: 0.002, agentIds: [agent.id] });
  const { body } = await upload(service, agent, jsonLines(namedLines(5)), { key });
  const { counts } = await batchWhen(
    service,
    body.statusUrl,
    key,
    ({ waitingFor, counts: { success } }) => waitingFor === 'budget' && success === 2,
  );
  assert.equal(counts.waiting, 3);
  await sql`update budgets set limit_usd = 1 where id = ${budgetId}`.execute(service.db);
  const done = await batchWhen(service, body.statusUrl, key);
  assert.equal(done.counts.success, 5);
  const [window] = await windowsOf(service.db, budgetId);
  assert.deepEqual([window?.settled, window?.reserved], ['0.005', '0']);
});

test('a batch under a total budget that is spent is canceled, and says why', async () => {
  const agent = await agentFor();
  await addBudget(service, { limitUSD: 0.002, agentIds: [agent.id], period: 'total' });
  const { body } = await upload(service, agent, jsonLines(namedLines(5)), { key });
  const done = await batchWhen(service, body.statusUrl, key);
  assert.deepEqual([done.status, done.canceledBecause], ['canceled', 'budget_exhausted']);
  assert.deepEqual([done.counts.success, done.counts.canceled], [2, 3]);
});

test('a total budget of one user refuses the lines of that user alone', async () => {
  const agent = await agentFor();
  const scope = { agentIds: [agent.id], per: 'user', period: 'total' } as const;
  await addBudget(service, { limitUSD: 0.001, ...scope });
  const lines = namedLines(4).map((line, at) => ({ ...line, user: at < 3 ? 'ann' : 'bob' }));
  const { body } = await upload(service, agent, jsonLines(lines), { key });
  const done = await batchWhen(service, body.statusUrl, key);
  assert.deepEqual([done.status, done.counts.success, done.counts.refused], ['completed', 2, 2]);
});
