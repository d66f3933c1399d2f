import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { startFakeProvider } from '../../harness/fake-provider.ts';
import { nothingStored, openUnsealed } from '../../harness/setups.ts';
import { ModelDeferred, ModelFailure } from '../../src/core/model/model-port.ts';
import { createModels } from '../../src/provider/registry.ts';

const fake = await startFakeProvider();
after(() => fake.close());
const plain = {
  ...{ executionId: 'e', workspaceId: 'w', model: 'ollama/hang', setup: nothingStored },
  ...{ system: null, user: 'x', temperature: null, maxTokens: null, topP: null },
};
const [hour, shortMs] = [3_600_000, 500];

/** What comes of a call that stands in line until its time would be up, and then gets room at a provider that hangs. */
async function afterStanding(t: TestContext, called: boolean): Promise<unknown> {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const env = { OLLAMA_BASE_URL: fake.url };
  const models = createModels({ open: openUnsealed, env, allowedHosts: [], callsMax: 1 });
  t.after(() => models.close());
  const before = fake.calls.length;
  const [first, second] = [new AbortController(), new AbortController()];
  const one = models.call({ ...plain, called: false, timeoutMs: hour, signal: first.signal });
  await fake.arrived(before + 1);
  const other = models
    .call({ ...plain, called, timeoutMs: shortMs, signal: second.signal })
    .catch((error: unknown) => error);
  t.mock.timers.tick(shortMs);
  first.abort(new Error('canceled'));
  await assert.rejects(one, { message: 'canceled' });
  await Promise.race([other, fake.arrived(before + 2)]);
  t.mock.timers.tick(shortMs);
  return other;
}

test('what has not been called before stands in line for nothing of its time', async (t) => {
  const error = await afterStanding(t, false);
  assert.ok(error instanceof ModelFailure);
  assert.equal(error.code, 'MODEL_TIMEOUT');
});

test('what was called before stands in line within its time', async (t) => {
  assert.ok((await afterStanding(t, true)) instanceof ModelDeferred);
});
