import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scriptedModels } from '../../harness/models.ts';
import { emptySetup } from '../../harness/setups.ts';
import { collectResponse } from '../../src/core/model/model-events.ts';
import { type ModelCall, ModelFailure, type ModelPort } from '../../src/core/model/model-port.ts';
import { type ModelCalled, outcomeOf, withMetrics } from '../../src/models/with-metrics.ts';

const call: ModelCall = {
  ...{ executionId: '', workspaceId: '', model: 'openai/gpt', system: null, user: 'hello' },
  ...{ temperature: null, maxTokens: null, topP: null, timeoutMs: 1_000, called: false },
  ...{ setup: emptySetup, signal: new AbortController().signal },
};

test('observes each call and returns its result', async () => {
  const observed: ModelCalled[] = [];
  const models = scriptedModels();
  const port = withMetrics(models, (called) => observed.push(called));
  const failure = new ModelFailure('PROVIDER_AUTH', 'no');
  models.script({ text: 'yes' }, failure);
  assert.equal((await collectResponse(port, call)).text, 'yes');
  await assert.rejects(collectResponse(port, call), failure);
  assert.deepEqual(
    observed.map(({ provider, outcome }) => [provider, outcome]),
    [
      ['openai', 'success'],
      ['openai', 'PROVIDER_AUTH'],
    ],
  );
  assert.ok(observed.every(({ seconds }) => seconds >= 0));
});

test('labels only known providers by name', async () => {
  const observed: string[] = [];
  const port = withMetrics(scriptedModels(), ({ provider }) => observed.push(provider));
  const names = ['cueline/echo', 'ollama/a:b', 'xai/grok', 'acme-internal/a/b', 'none', '/x'];
  for (const model of names) await collectResponse(port, { ...call, model });
  assert.deepEqual(observed, ['cueline', 'ollama', 'xai', 'other', 'other', 'other']);
});

test('distinguishes a cancel, a timeout and a fault', async () => {
  const outcomes: string[] = [];
  const failing: ModelPort = {
    async call({ signal }) {
      throw signal.aborted ? signal.reason : new Error('a fault');
    },
  };
  const port = withMetrics(failing, ({ outcome }) => outcomes.push(outcome));
  const late = new DOMException('late', 'TimeoutError');
  for (const reason of ['canceled', late, undefined]) {
    const signal = AbortSignal.abort(reason);
    await assert.rejects(collectResponse(port, { ...call, signal }));
  }
  await assert.rejects(collectResponse(port, call));
  assert.deepEqual(outcomes, ['aborted', 'MODEL_TIMEOUT', 'aborted', 'INTERNAL']);
  const failure = new ModelFailure('CONTENT_FILTERED', '');
  assert.equal(outcomeOf(failure, AbortSignal.abort()), 'CONTENT_FILTERED');
});
