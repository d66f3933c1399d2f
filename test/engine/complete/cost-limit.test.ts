import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended, run, type TestAgent } from '../../../harness/agents.ts';
import { batchWhen, jsonLines, resultsOf, upload } from '../../../harness/batches.ts';
import { setPrice } from '../../../harness/prices.ts';
import { startService } from '../../../harness/service.ts';
import { addWorkflow, endOfRun, startRun, step } from '../../../harness/workflow-runs.ts';
import type { AgentConfig } from '../../../src/core/agent/model-settings.ts';
import { ModelFailure, noUsage, unknownCost } from '../../../src/core/model/model-port.ts';
import { sql } from '../../../src/db/sql.ts';

/** A limit of cost holds for all calls of an execution together. */

const service = await startService();
after(service.close);
const { key } = await service.key();
/** Input is free, 10 tokens of output cost 0.01 and 0.1 dollars. */
await setPrice(service, 'mine/cheap', { inputPerMillion: '0', outputPerMillion: '1000' });
await setPrice(service, 'mine/dear', { inputPerMillion: '0', outputPerMillion: '10000' });

const limited = (maxCostUSD: number, config: AgentConfig = {}) =>
  addAgent(service, { model: 'mine/cheap', config: { maxTokens: 10, maxCostUSD, ...config } });

const broken = (usd: string | null, options = {}) =>
  new ModelFailure('PROVIDER_ERROR', 'It broke.', {
    ...{ usage: { ...noUsage, outputTokens: 10 }, retryAfterMs: 1 },
    cost: usd === null ? unknownCost : { usd, known: true, source: 'workspace' },
    ...options,
  });

/** The record, and how many calls of the model were sent. */
async function executed(agent: TestAgent) {
  const { length } = service.models.calls;
  const record = await run(service, agent, key);
  return { record, calls: service.models.calls.length - length };
}

test('a retry that does not fit any more is not sent', async () => {
  service.models.script(broken('0.01'), broken('0.01'));
  const { record, calls } = await executed(await limited(0.025));
  assert.deepEqual([record.status, record.errorCode, calls], ['failed', 'COST_LIMIT', 2]);
  assert.match(record.error, /limit is 0\.025 USD, 0\.02 USD are spent.*up to 0\.01 USD/);
  assert.deepEqual([record.costUSD, record.attempts], [0.02, 2]);
});

test('a retry that just fits is sent', async () => {
  service.models.script(broken('0.01'), broken('0.01'));
  const { record, calls } = await executed(await limited(0.03));
  assert.deepEqual([record.status, calls], ['success', 3]);
});

test('a call that cost less than its bound leaves more for the next ones', async () => {
  service.models.script(broken('0.001'), broken('0.001'));
  const { record, calls } = await executed(await limited(0.0125));
  assert.deepEqual([record.status, calls], ['success', 3]);
});

test('a call whose cost is unknown counts with its bound', async () => {
  service.models.script(broken(null));
  const { record, calls } = await executed(await limited(0.0199));
  assert.deepEqual([record.errorCode, calls, record.costKnown], ['COST_LIMIT', 1, false]);
  assert.equal(record.costUSD, 0);
});

test('a call that did not leave counts for nothing', async () => {
  service.models.script(broken('0'), broken('0'));
  const { record, calls } = await executed(await limited(0.01));
  assert.deepEqual([record.status, calls], ['success', 3]);
});

test('a fallback to a dearer model that does not fit is not sent', async () => {
  const models = ['mine/cheap', 'mine/dear'];
  const agent = await limited(0.109, { models, maxAttempts: 1 });
  service.models.script(broken('0.01'));
  const { record, calls } = await executed(agent);
  assert.deepEqual([record.errorCode, calls], ['COST_LIMIT', 1]);
  assert.match(record.error, /may cost up to 0\.1 USD/);
  service.models.script(broken('0.009'));
  assert.equal((await executed(agent)).record.status, 'success');
});

test('a fallback to a model without a price ends the execution without a call', async () => {
  service.models.script(broken('0'));
  const models = ['mine/cheap', 'mine/unpriced'];
  const { record, calls } = await executed(await limited(1, { models, maxAttempts: 1 }));
  assert.deepEqual([record.errorCode, calls], ['PRICE_UNKNOWN', 1]);
});

test('the correction of an answer counts, with its text', async () => {
  await setPrice(service, 'mine/input', { inputPerMillion: '1', outputPerMillion: '0' });
  const responseFormat = { type: 'json', schema: { type: 'object' } } as const;
  const agent = (maxCostUSD: number) =>
    addAgent(service, {
      ...{ model: 'mine/input', user: 'x' },
      config: { maxCostUSD, responseFormat, maxTokens: 10 },
    });
  const probe = await addAgent(service, {
    ...{ model: 'mine/input', user: 'x' },
    config: { responseFormat, maxTokens: 10 },
  });
  const { body } = await service.call('POST', `${probe.path}/execute`, {
    key,
    body: { variables: {}, maxCostUSD: 1e-9 },
  });
  const first = body.neededUSD;
  service.models.script({ text: 'no JSON' });
  const { record, calls } = await executed(await agent(first));
  assert.deepEqual([record.errorCode, calls], ['COST_LIMIT', 1]);
  service.models.script({ text: 'no JSON' }, { text: '{}' });
  assert.equal((await executed(await agent(first + 0.001))).record.status, 'success');
});

test('executions in parallel each have their own limit', async () => {
  const agent = await limited(0.02);
  service.models.script(...Array.from({ length: 4 }, () => broken('0.01')));
  const { length } = service.models.calls;
  const records = await Promise.all(Array.from({ length: 4 }, () => run(service, agent, key)));
  const costs = records.map(({ costUSD }) => costUSD);
  assert.ok(costs.every((cost) => cost <= 0.02));
  assert.equal(service.models.calls.length - length, 8);
});

test('while a call runs, the queue has its bound, also of a dearer model', async () => {
  const agent = await limited(1, { models: ['mine/cheap', 'mine/dear'], maxAttempts: 1 });
  service.models.script(broken('0.01'));
  const held = service.models.hold();
  const { body } = await service.call('POST', `${agent.path}/execute`, {
    key,
    body: { variables: { name: 'you' } },
  });
  await held.arrived;
  const { rows } = await sql<{ bound: string; spent: string }>`
    select call_bound_usd::float8 as bound, spent_usd::float8 as spent from execution_queue
    where agent_id = ${agent.id}`.execute(service.db);
  assert.deepEqual(rows, [{ bound: 0.1, spent: 0.01 }]);
  held.release();
  assert.equal((await ended(service, body.statusUrl, key)).status, 'success');
});

test('a line of a batch that does not fit is refused, and the others are executed', async () => {
  await setPrice(service, 'mine/bytes', { inputPerMillion: '1', outputPerMillion: '0' });
  const agent = await addAgent(service, {
    ...{ model: 'mine/bytes', user: '{{name}}' },
    config: { maxCostUSD: 0.0001, maxTokens: 10 },
  });
  const lines = [
    { id: 'short', variables: { name: 'x' } },
    { id: 'long', variables: { name: 'x'.repeat(100) } },
  ];
  const { body } = await upload(service, agent, jsonLines(lines), { key });
  const { counts } = await batchWhen(service, body.statusUrl, key);
  assert.deepEqual([counts.success, counts.refused], [1, 1]);
  const results = await resultsOf(service, body.statusUrl, key);
  const refused = results.find(({ id }) => id === 'long');
  assert.equal(refused.errorCode, 'COST_LIMIT_TOO_LOW');
});

test('a step of a workflow run that does not fit fails with the code', async () => {
  const config = { maxTokens: 10, maxCostUSD: 0.001 };
  const dear = await addAgent(service, { model: 'mine/cheap', user: 'x', config });
  const workflow = await addWorkflow(service, { steps: [step({ name: 'a', agent: dear })] });
  const { run: ofRun, steps } = await endOfRun(
    service,
    workflow,
    await startRun(service, workflow, key),
  );
  assert.equal(ofRun.status, 'failed');
  assert.equal(steps.get('a')?.errorCode, 'COST_LIMIT_TOO_LOW');
});

test('without a limit nothing is looked up or written', async () => {
  const agent = await addAgent(service, { model: 'mine/unpriced' });
  assert.equal((await run(service, agent, key)).status, 'success');
});
