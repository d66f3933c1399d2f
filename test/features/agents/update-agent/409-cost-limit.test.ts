import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const patch = (path: string, agentConfig: object) =>
  service.call('PATCH', path, { key, body: { agentConfig } });

test('a limit of cost is a number above 0, and null removes it', async () => {
  const { path } = await addAgent(service);
  for (const maxCostUSD of [0, -1, '1', 1_000_001]) {
    assert.equal((await patch(path, { maxCostUSD })).status, 400);
  }
  const set = await patch(path, { maxCostUSD: 0.05 });
  assert.equal(set.body.agentConfig.maxCostUSD, 0.05);
  const removed = await patch(path, { maxCostUSD: null });
  assert.equal(removed.body.agentConfig.maxCostUSD, undefined);
});

test('an agent with provider options that set an output limit takes none', async () => {
  const providerOptions = { openai: { maxCompletionTokens: 9 } };
  const { path } = await addAgent(service, { config: { providerOptions } });
  const { status, body } = await patch(path, { maxCostUSD: 0.05 });
  assert.deepEqual([status, body.code], [409, 'CONFLICT']);
  assert.match(body.message, /"providerOptions\.openai\.maxCompletionTokens"/);
  const { path: limited } = await addAgent(service, { config: { maxCostUSD: 1 } });
  assert.equal((await patch(limited, { providerOptions })).status, 409);
});

test('an agent whose provider adds an output limit to each call takes none', async () => {
  const bodyExtra = { max_tokens: 100_000 };
  await service.call('PUT', '/api/v1/providers/gateway', {
    key,
    body: { kind: 'openai', apiKey: 'k', bodyExtra },
  });
  const { path } = await addAgent(service, { model: 'gateway/m' });
  const { status, body } = await patch(path, { maxCostUSD: 0.05 });
  assert.deepEqual([status, body.code], [409, 'CONFLICT']);
  assert.match(body.message, /"bodyExtra\.max_tokens".*provider 'gateway'/);
  const { path: limited } = await addAgent(service, { config: { maxCostUSD: 1 } });
  const models = ['cueline/echo', 'gateway/m'];
  assert.equal((await patch(limited, { models })).status, 409);
  const later = { key, body: { description: 'Another' } };
  assert.equal((await service.call('PATCH', limited, later)).status, 200);
});
