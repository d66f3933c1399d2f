import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { startFakeProvider } from '../../../harness/fake-provider.ts';
import { emptySetup, openUnsealed } from '../../../harness/setups.ts';
import { collectResponse } from '../../../src/core/model/model-events.ts';
import { ModelDeferred, ModelFailure } from '../../../src/core/model/model-port.ts';
import { createModels } from '../../../src/models/registry.ts';

const fake = await startFakeProvider();
after(() => fake.close());
const plain = {
  ...{ executionId: 'e', workspaceId: 'w', model: 'ollama/hang', setup: emptySetup },
  ...{ system: null, user: 'x', temperature: null, maxTokens: null, topP: null },
};
const [hour, shortMs] = [3_600_000, 500];

/** The error of a call that queues for its whole timeout and then gets a slot of a hanging provider. */
async function afterQueueWait(t: TestContext, called: boolean): Promise<unknown> {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const env = { OLLAMA_BASE_URL: fake.url };
  const models = createModels({ open: openUnsealed, env, allowedHosts: [], callsMax: 1 });
  t.after(() => models.close());
  const before = fake.calls.length;
  const [firstAbort, secondAbort] = [new AbortController(), new AbortController()];
  const first = collectResponse(models, {
    ...{ ...plain, called: false, timeoutMs: hour, signal: firstAbort.signal },
  });
  await fake.arrived(before + 1);
  const second = collectResponse(models, {
    ...{ ...plain, called, timeoutMs: shortMs, signal: secondAbort.signal },
  }).catch((error: unknown) => error);
  t.mock.timers.tick(shortMs);
  firstAbort.abort(new Error('canceled'));
  await assert.rejects(first, { message: 'canceled' });
  await Promise.race([second, fake.arrived(before + 2)]);
  t.mock.timers.tick(shortMs);
  return second;
}

test('the queue wait of a first attempt does not count towards the timeout', async (t) => {
  const error = await afterQueueWait(t, false);
  assert.ok(error instanceof ModelFailure);
  assert.equal(error.code, 'MODEL_TIMEOUT');
});

test('the queue wait of a later attempt counts towards the timeout', async (t) => {
  assert.ok((await afterQueueWait(t, true)) instanceof ModelDeferred);
});
