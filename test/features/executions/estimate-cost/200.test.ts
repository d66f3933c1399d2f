import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, run } from '../../../../harness/agents.ts';
import { setPrice } from '../../../../harness/prices.ts';
import { startService } from '../../../../harness/service.ts';

/** `POST /api/v1/agents/{agentId}/estimate` */

const service = await startService();
after(service.close);
const { key } = await service.key();
const model = 'mine/dear';
await setPrice(service, model, { inputPerMillion: '0', outputPerMillion: '1000' });
const agent = await addAgent(service, { model, config: { maxTokens: 10, maxCostUSD: 0.0001 } });
const variables = { name: 'you' };
const estimate = (path: string, body: object) =>
  service.call('POST', `${path}/estimate`, { key, body });

test('bounds a call, whatever limit its agent has, and knows nothing usual yet', async () => {
  const { status, body } = await estimate(agent.path, { variables });
  assert.deepEqual([status, body], [200, { boundUSD: 0.01, expectedUSD: null }]);
  const many = await estimate(agent.path, { variables, count: 1_000 });
  assert.equal(many.body.boundUSD, 10);
});

test('the usual cost is the median of those of the pinned version', async () => {
  const used = await addAgent(service, { model, config: { maxTokens: 10 } });
  for (const usd of ['0.001', '0.004', '0.002']) {
    service.models.script({ cost: { usd, known: true } });
    await run(service, used, key);
  }
  service.models.script({ cost: { usd: '0', known: false } });
  await run(service, used, key);
  const { body } = await estimate(used.path, { variables, count: 3 });
  assert.deepEqual(body, { boundUSD: 0.03, expectedUSD: 0.006 });
});

test('a call that admission would refuse has no estimate', async () => {
  const missing = await estimate(agent.path, { variables: {} });
  assert.deepEqual([missing.status, missing.body.code], [400, 'MISSING_VARIABLES']);
  const unpriced = await addAgent(service, { model: 'mine/unpriced' });
  const { status, body } = await estimate(unpriced.path, { variables });
  assert.deepEqual([status, body.code], [400, 'PRICE_UNKNOWN']);
});

test('an agent in any stage has one, and nothing is counted', async () => {
  const draft = await addAgent(service, { model, stage: 'Draft', config: { maxTokens: 1 } });
  const limits = { rateLimits: { requestsPerMinute: 1 } };
  const { key: slow } = await service.key(limits);
  for (let calls = 0; calls < 3; calls++) {
    const { status } = await service.call('POST', `${draft.path}/estimate`, {
      key: slow,
      body: { variables },
    });
    assert.equal(status, 200);
  }
});
