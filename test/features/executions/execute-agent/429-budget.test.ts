import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../../../harness/agents.ts';
import { addBudget, addPrice, windowsOf } from '../../../../harness/budgets.ts';
import { type Service, startService } from '../../../../harness/service.ts';
import { emitEnd } from '../../../../src/core/model/model-events.ts';
import { type ModelPort, noUsage } from '../../../../src/core/model/model-port.ts';
import { sql } from '../../../../src/db/sql.ts';
import { failureCodeIn } from '../../../../src/http/response/openai-error.ts';

const boundUsd = 0.001;
/** Each call costs its bound. */
const models: ModelPort = {
  async call(_call, emit) {
    emit({ type: 'text', text: 'x' });
    const cost = { usd: String(boundUsd), known: true };
    emitEnd(emit, { usage: noUsage, finishReason: 'stop', cost });
  },
};
const service = await startService({ models });
const second = await startService({ sharedWith: service, models });
after(async () => {
  await second.close();
  await service.close();
});
const model = 'cueline/echo';
await addPrice(service, { model, perToken: 0.0001 });
const config = { maxTokens: 10 };

/** Sends calls at once to both processes. */
async function storm(path: string, calls: readonly object[]) {
  const { key } = await service.key();
  const services: readonly Service[] = [service, second];
  const responses = await Promise.all(
    calls.map((more, index) =>
      services[index % 2]?.call('POST', `${path}/execute`, {
        key,
        body: { variables: { name: 'x' }, ...more },
      }),
    ),
  );
  const accepted = responses.filter((response) => response?.status === 202);
  await Promise.all(accepted.map((response) => ended(service, response?.body.statusUrl, key)));
  return { responses, accepted: accepted.length, key };
}

test('a budget of 0.01 USD admits exactly ten calls of 0.001, over two processes at once', async () => {
  const agent = await addAgent(service, { model, config });
  const budgetId = await addBudget(service, { limitUSD: 0.01, agentIds: [agent.id] });
  const { accepted, responses } = await storm(agent.path, Array(30).fill({}));
  assert.equal(accepted, 10);
  const refused = responses.find((response) => response?.status === 429);
  assert.equal(refused?.body.code, 'BUDGET_EXCEEDED');
  const { limitedBy } = refused?.body ?? {};
  assert.equal(limitedBy.scope, 'budget');
  assert.equal(limitedBy.neededUSD, boundUsd);
  const [window] = await windowsOf(service.db, budgetId);
  assert.deepEqual(window && { settled: window.settled, reserved: window.reserved }, {
    settled: '0.01',
    reserved: '0',
  });
});

test('of eight first calls of a new user at once, with room for one, one is accepted', async () => {
  const agent = await addAgent(service, { model, config });
  const scope = { agentIds: [agent.id], per: 'user' } as const;
  const budgetId = await addBudget(service, { limitUSD: boundUsd, ...scope });
  const { accepted } = await storm(agent.path, Array(8).fill({ user: 'new' }));
  assert.equal(accepted, 1);
  const windows = await windowsOf(service.db, budgetId);
  assert.deepEqual(
    windows.map(({ bucket, settled }) => [bucket, settled]),
    [['new', '0.001']],
  );
});

test('the OpenAI API refuses with insufficient_quota, and metrics and the record call it a budget', async () => {
  const agent = await addAgent(service, { model, config });
  await addBudget(service, { limitUSD: boundUsd / 2, agentIds: [agent.id] });
  const totals = await addAgent(service, { model, config });
  await addBudget(service, { limitUSD: boundUsd / 2, agentIds: [totals.id], period: 'total' });
  const { key } = await service.key();
  for (const [{ id, agentId }, status] of [
    [agent, 429],
    [totals, 403],
  ] as const) {
    const messages = [{ role: 'user', content: 'x' }];
    const refused = await service.call('POST', '/v1/chat/completions', {
      key,
      body: { model: agentId, messages },
    });
    assert.deepEqual(
      [refused.status, refused.body.error.type, refused.body.error.code],
      [status, 'insufficient_quota', 'insufficient_quota'],
    );
    assert.equal(failureCodeIn(refused.body), 'BUDGET_EXCEEDED');
    const { rows } = await sql<{ errorCode: string }>`
      select error_code from executions where agent_id = ${id}`.execute(service.db);
    assert.deepEqual(rows, [{ errorCode: 'BUDGET_EXCEEDED' }]);
  }
});
