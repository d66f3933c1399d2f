import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../../harness/agents.ts';
import { startFakeProvider } from '../../../harness/fake-provider.ts';
import { startService } from '../../../harness/service.ts';
import { openUnsealed } from '../../../harness/setups.ts';
import { createModels } from '../../../src/models/registry.ts';

/** Rate limits and loading models consume no attempts: the executions wait in the queue. */

const provider = await startFakeProvider();
const models = createModels({
  open: openUnsealed,
  env: { OLLAMA_BASE_URL: provider.url },
  allowedHosts: [],
});
const service = await startService({ models });
after(async () => {
  await service.close();
  await models.close();
  await provider.close();
});
const { key } = await service.key();

async function recordsOf(model: string, executions: number) {
  const agent = await addAgent(service, { model, config: { maxAttempts: 1 } });
  const call = { key, body: { variables: { name: 'x' } } };
  const accepted = await Promise.all(
    Array.from({ length: executions }, () => service.call('POST', `${agent.path}/execute`, call)),
  );
  return Promise.all(accepted.map(({ body }) => ended(service, body.statusUrl, key)));
}

test('a rate-limited model does not hold back another one on the same credential', async () => {
  const limited = await addAgent(service, { model: 'ollama/rate-limited' });
  const call = { key, body: { variables: { name: 'x' } } };
  const waiting = await service.call('POST', `${limited.path}/execute`, call);
  while (provider.calls.length === 0) await new Promise(setImmediate);
  const [record] = await recordsOf('ollama/any', 1);
  assert.equal(record?.status, 'success');
  assert.equal(
    (await service.call('GET', waiting.body.statusUrl, { key })).body.status,
    'processing',
  );
  await service.call('POST', `${waiting.body.statusUrl}/cancel`, { key });
});

for (const [model, executions] of [
  ['ollama/limited-5-per-1000', 20],
  ['ollama/loading-1000', 3],
] as const) {
  test(`with one attempt, ${executions} executions of ${model} succeed`, async () => {
    const records = await recordsOf(model, executions);
    assert.deepEqual(
      [...new Set(records.map(({ status, attempts }) => `${status} ${attempts}`))],
      ['success 1'],
    );
    assert.ok(provider.calls.length > executions);
  });
}
