import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { askModel, failedModel } from '../../harness/ask-model.ts';
import { startFakeProvider } from '../../harness/fake-provider.ts';
import type { Cost, Usage } from '../../src/core/model/model-port.ts';
import { type ProviderAnswer, providerAnswers } from './provider-answers.ts';

const fake = await startFakeProvider();
after(fake.close);

const price = {
  ...{ inputPerMillion: '1', outputPerMillion: '2' },
  ...{ cacheReadPerMillion: '0.1', cacheWritePerMillion: '1.25' },
};

describe('a call is answered with', () => {
  for (const [name, answer] of Object.entries(providerAnswers)) {
    test(name, async () => {
      const { steps, sent } = answer;
      const before = fake.calls.length;
      fake.script(...steps);
      await ('code' in answer.is
        ? checkFailure(answer, answer.is)
        : checkSuccess(answer, answer.is));
      const requests = fake.calls.slice(before);
      assert.equal(requests.length, steps.length, 'requests');
      if (sent) assert.deepEqual(sent[0](requests), sent[1]);
    });
  }
});

type Is<Kind> = Extract<ProviderAnswer['is'], Kind>;
type Failure = Is<{ readonly code: string }>;
type Success = Exclude<ProviderAnswer['is'], Failure>;

function parametersOf({ kind = 'openai-compatible', call = {}, priced }: ProviderAnswer) {
  return [fake, { kind }, { ...call, price: priced === false ? null : price }] as const;
}

async function checkSuccess(answer: ProviderAnswer, is: Success): Promise<void> {
  const { text = 'Hello.', finish = 'stop', settingsNotApplied = [] } = is;
  const response = await askModel(...parametersOf(answer));
  assert.deepEqual([response.text, response.finishReason], [text, finish]);
  assert.deepEqual(response.settingsNotApplied ?? [], settingsNotApplied);
  checkCommon(response, is);
}

async function checkFailure(answer: ProviderAnswer, is: Failure): Promise<void> {
  const failure = await failedModel(...parametersOf(answer));
  assert.equal(failure.code, is.code, failure.message);
  const fate = failure.rejected ? 'wait' : failure.retryable ? 'retry' : 'end';
  assert.equal(fate, is.after);
  if (is.finish) assert.equal(failure.finishReason, is.finish);
  if (is.message) assert.ok(failure.message.includes(is.message), failure.message);
  if (is.costKnown !== undefined) assert.equal(failure.cost.known, is.costKnown);
  const { retryAfterMs } = failure;
  if (typeof is.waitMs === 'number') assert.equal(retryAfterMs, is.waitMs);
  else if (is.waitMs) {
    assert.ok(retryAfterMs > 0 && retryAfterMs <= is.waitMs.atMost, String(retryAfterMs));
  }
  checkCommon(failure, is);
}

function checkCommon(
  { usage, cost, details }: { usage: Usage; cost: Cost; details?: object },
  is: Success | Failure,
): void {
  const { tokens, usd, costSource } = is;
  if (tokens !== undefined) {
    assert.deepEqual([usage.inputTokens, usage.outputTokens], tokens ?? [0, 0]);
    assert.equal(cost.known, tokens !== null);
  }
  if (usd !== undefined) assert.equal(cost.usd, usd);
  if (costSource !== undefined) assert.equal(cost.source, costSource);
  for (const [name, value] of Object.entries(is.details ?? {})) {
    assert.equal(Object(details)[name], value, name);
  }
}
