import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended, type TestAgent } from '../../../harness/agents.ts';
import { startService } from '../../../harness/service.ts';
import { ModelFailure } from '../../../src/core/model/model-port.ts';

/** Aborted calls, and the cost of earlier attempts. */

const service = await startService();
after(service.close);
const { key } = await service.key();

async function executeAt(url: string, agent: TestAgent): Promise<string> {
  const response = await fetch(`${url}${agent.path}/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{"variables":{"name":"x"}}',
  });
  return ((await response.json()) as { statusUrl: string }).statusUrl;
}

test('with maxAttempts 1, a call that was sent is not sent again', async () => {
  const agent = await addAgent(service, { config: { maxAttempts: 1 } });
  const stopping = await startService({ sharedWith: service });
  const heldCall = stopping.models.hold();
  const statusUrl = await executeAt(stopping.url, agent);
  await heldCall.arrived;
  const calls = service.models.calls.length;
  await stopping.close();
  const record = await ended(service, statusUrl, key);
  assert.equal(record.status, 'failed');
  assert.equal(record.errorCode, 'WORKER_LOST');
  assert.equal(record.userPrompt, 'Hello x');
  assert.equal(record.costKnown, false);
  assert.equal(service.models.calls.length, calls);
});

test('with more attempts, another process calls again, and the cost is marked unknown', async () => {
  const agent = await addAgent(service);
  const stopping = await startService({ sharedWith: service });
  const heldCall = stopping.models.hold();
  const statusUrl = await executeAt(stopping.url, agent);
  await heldCall.arrived;
  await stopping.close();
  const record = await ended(service, statusUrl, key);
  assert.equal(record.status, 'success');
  assert.equal(record.costKnown, false);
});

test('the cost of an execution is the sum of its attempts', async () => {
  const agent = await addAgent(service, { config: { maxAttempts: 2 } });
  const usage = { inputTokens: 3, outputTokens: 4, cacheReadTokens: 0, cacheWriteTokens: 0 };
  service.models.script(
    new ModelFailure('PROVIDER_ERROR', 'It broke.', { usage, cost: { usd: '0.1', known: true } }),
    { cost: { usd: '0.2', known: true } },
  );
  const record = await ended(service, await executeAt(service.url, agent), key);
  assert.equal(record.attempts, 2);
  assert.equal(record.costUSD, 0.3);
  assert.equal(record.costKnown, true);
  assert.equal(record.inputTokens, 13);
  assert.equal(record.outputTokens, 9);
});
