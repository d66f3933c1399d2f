import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { type AnswerDetails, ModelFailure } from '../../../../src/core/model/model-port.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);
const silentAgent = await addAgent(service);

const details: AnswerDetails = {
  ...{ reasoningText: 'hm', reasoningTokens: 4, refusalText: null },
  ...{ modelAnswered: 'm-2', providerRequestId: 'r-1', providerFinishReason: 'eos' },
};
const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 };
const cost = { usd: '0.5', known: true };
const empty = () =>
  new ModelFailure('EMPTY_OUTPUT', 'No text.', { usage, cost, finishReason: 'length', details });

async function record(path = agent.path, by = key) {
  const { body } = await service.call('POST', `${path}/execute`, {
    key: by,
    body: { variables: { name: 'x' } },
  });
  return ended(service, body.statusUrl, by);
}

test('the record shows what the provider said beside the text', async () => {
  service.models.script({ text: 'done', details });
  const body = await record();
  assert.deepEqual([body.output, body.reasoningText, body.reasoningTokens], ['done', 'hm', 4]);
  assert.deepEqual([body.modelAnswered, body.providerRequestId], ['m-2', 'r-1']);
  assert.equal(body.providerFinishReason, 'eos');
  assert.ok(!('refusalText' in body));
  const list = await service.call('GET', `${agent.path}/executions`, { key });
  const [listed] = list.body.executions;
  assert.deepEqual([listed.modelAnswered, listed.reasoningTokens], ['m-2', 4]);
  assert.equal(listed.providerFinishReason, 'eos');
  assert.ok(!('reasoningText' in listed));
});

test('fields of which the provider says nothing are absent', async () => {
  const body = await record();
  for (const field of ['reasoningText', 'reasoningTokens', 'modelAnswered', 'providerRequestId']) {
    assert.ok(!(field in body), field);
  }
});

test('reasoning needs the permission read', async () => {
  const { key: own } = await service.key({ permissions: ['execute'] });
  service.models.script({ text: 'done', details });
  const body = await record(agent.path, own);
  assert.deepEqual([body.output, body.modelAnswered], ['done', 'm-2']);
  assert.ok(!('reasoningText' in body));
});

test('a refusal is a failure with its text, also for a key without read', async () => {
  const { key: own } = await service.key({ permissions: ['execute'] });
  const refused = { ...details, refusalText: 'I cannot.' };
  service.models.script(
    new ModelFailure('CONTENT_FILTERED', 'No.', {
      ...{ usage, cost, finishReason: 'content-filter', details: refused },
    }),
  );
  const body = await record(agent.path, own);
  assert.deepEqual([body.status, body.errorCode], ['failed', 'CONTENT_FILTERED']);
  assert.deepEqual([body.refusalText, body.finishReason], ['I cannot.', 'content-filter']);
});

test('an empty answer is retried once, and keeps its tokens and cost', async () => {
  service.models.script(empty(), empty());
  const before = service.models.calls.length;
  const body = await record();
  assert.deepEqual([body.status, body.errorCode, body.attempts], ['failed', 'EMPTY_OUTPUT', 2]);
  assert.deepEqual([body.inputTokens, body.outputTokens, body.costUSD], [20, 10, 1]);
  assert.deepEqual([body.reasoningText, body.finishReason], ['hm', 'length']);
  assert.equal(service.models.calls.length, before + 2);
});

test('an empty answer is retried after another failure, and may succeed', async () => {
  service.models.script(new ModelFailure('PROVIDER_ERROR', 'Down.'), empty(), { text: 'done' });
  const body = await record();
  assert.deepEqual([body.status, body.output, body.attempts], ['success', 'done', 3]);
  assert.ok(!('reasoningText' in body));
});

test('with maxAttempts 1, an empty answer is final', async () => {
  const once = await addAgent(service, { config: { maxAttempts: 1 } });
  service.models.script(empty());
  const body = await record(once.path);
  assert.deepEqual([body.errorCode, body.attempts], ['EMPTY_OUTPUT', 1]);
});

test('an agent that stores no bodies keeps no reasoning', async () => {
  await service.call('PATCH', silentAgent.path, { key, body: { storeBodies: false } });
  service.models.script({ text: 'done', details });
  const body = await record(silentAgent.path);
  assert.deepEqual([body.output, body.modelAnswered], ['done', 'm-2']);
  assert.ok(!('reasoningText' in body));
});

test('the record names the source of its cost, also of an earlier attempt', async () => {
  service.models.script({ text: 'done', cost: { ...cost, source: 'provider' } });
  assert.equal((await record()).costSource, 'provider');
  service.models.script({ text: 'done', cost: { usd: '0', known: false } });
  assert.equal((await record()).costSource, 'unknown');
  const priced = { usd: '0.5', known: true, source: 'workspace' } as const;
  service.models.script(
    new ModelFailure('PROVIDER_ERROR', 'Down.', { cost: priced }),
    new ModelFailure('PROVIDER_AUTH', 'No.'),
  );
  const body = await record();
  assert.deepEqual([body.costSource, body.costUSD, body.attempts], ['workspace', 0.5, 2]);
});
