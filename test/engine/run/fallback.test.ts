import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type AgentOptions, addAgent, run } from '../../../harness/agents.ts';
import { startFakeProvider } from '../../../harness/fake-provider.ts';
import { startService } from '../../../harness/service.ts';
import { openUnsealed } from '../../../harness/setups.ts';
import { sql } from '../../../src/db/sql.ts';
import { createModels } from '../../../src/models/registry.ts';

/** An agent with several models: which failure moves an execution to the next one, and what its record says. */

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

const failing = (code: string) => `cueline/echo?fail=${code}`;
const agentWith = (config: AgentOptions['config']) =>
  addAgent(service, { config: { model: config?.models?.[0] ?? 'cueline/echo', ...config } });
const recordOf = async (config: AgentOptions['config']) =>
  run(service, await agentWith(config), key);
const listOf = ({ attemptList }: { attemptList: { model: string; errorCode?: string }[] }) =>
  attemptList.map(({ model, errorCode = 'success' }) => `${model} ${errorCode}`);

test('the answer of the next model is used, and the record describes every attempt', async () => {
  const models = [failing('PROVIDER_QUOTA'), 'cueline/echo?tokens=40'];
  const record = await recordOf({ models });
  assert.equal(record.status, 'success');
  assert.equal(record.output, 'Hello you');
  assert.equal(record.modelUsed, models[1]);
  assert.equal(record.attempts, 2);
  const [first, second] = record.attemptList;
  assert.deepEqual(
    { ...first, latencyMs: 0 },
    {
      ...{ model: models[0], errorCode: 'PROVIDER_QUOTA', inputTokens: 0, outputTokens: 0 },
      ...{ costUSD: 0, costKnown: true, latencyMs: 0 },
    },
  );
  assert.deepEqual(
    { ...second, latencyMs: 0 },
    {
      ...{ model: models[1], inputTokens: 3, outputTokens: 40 },
      ...{ costUSD: 0, costKnown: true, latencyMs: 0 },
    },
  );
  assert.equal(record.outputTokens, 40);
});

test('a sum of tokens is capped, so that the database can hold it, and input and output together', async () => {
  const models = [1, 2, 3, 4].map((n) => `cueline/echo?tokens=${1_000_000_000 - n}`);
  const responseFormat = { type: 'json', schema: { type: 'object' } } as const;
  const rest = { responseFormat, maxAttempts: 1 };
  const record = await recordOf({ models, fallbackOn: ['SCHEMA_MISMATCH'], ...rest });
  assert.deepEqual(
    [record.status, record.errorCode, record.attempts, record.outputTokens],
    ['failed', 'SCHEMA_MISMATCH', 4, 1_073_741_823],
  );
  // The view for BI tools adds input and output.
  const { rows } = await sql<{ tokens: number }>`
    select max(tokens_used)::int as tokens from cueline_executions`.execute(service.db);
  assert.ok((rows[0]?.tokens ?? 0) > 1_073_741_823);
});

test('attempts count for each model', async () => {
  const models = [failing('PROVIDER_ERROR'), `${failing('PROVIDER_ERROR')}&delay=1`];
  const record = await recordOf({ models, maxAttempts: 2 });
  assert.equal(record.status, 'failed');
  assert.equal(record.errorCode, 'PROVIDER_ERROR');
  assert.equal(record.modelUsed, models[1]);
  assert.equal(record.attempts, 4);
  assert.deepEqual(listOf(record), [
    ...Array(2).fill(`${models[0]} PROVIDER_ERROR`),
    ...Array(2).fill(`${models[1]} PROVIDER_ERROR`),
  ]);
});

for (const code of [
  'PROVIDER_AUTH',
  'PROVIDER_NOT_CONFIGURED',
  'CONTENT_FILTERED',
  'MODEL_NOT_FOUND',
]) {
  test(`by default ${code} ends the execution`, async () => {
    const record = await recordOf({ models: [failing(code), 'cueline/echo'] });
    assert.deepEqual([record.status, record.errorCode, record.attempts], ['failed', code, 1]);
  });
}

test('fallbackOn decides instead of the default', async () => {
  const filtered = [failing('CONTENT_FILTERED'), 'cueline/echo'];
  const one = await recordOf({ models: filtered, fallbackOn: ['CONTENT_FILTERED'] });
  assert.deepEqual([one.status, one.modelUsed], ['success', 'cueline/echo']);
  const context = [failing('CONTEXT_LENGTH'), 'cueline/echo'];
  const two = await recordOf({ models: context, fallbackOn: ['CONTENT_FILTERED'] });
  assert.deepEqual([two.status, two.errorCode], ['failed', 'CONTEXT_LENGTH']);
});

test('a short rate limit is waited out, but not if fallbackOn names it', async () => {
  const short = ['ollama/limited-1-per-300', 'cueline/echo'];
  await recordOf({ models: short });
  const waited = await recordOf({ models: short });
  assert.equal(waited.modelUsed, short[0]);
  const named = ['ollama/limited-0-per-1000', 'cueline/echo'];
  const moved = await recordOf({ models: named, fallbackOn: ['PROVIDER_RATE_LIMITED'] });
  assert.deepEqual(listOf(moved), [`${named[0]} PROVIDER_RATE_LIMITED`, 'cueline/echo success']);
});

test('a limit that is smaller than the request is not waited for', async () => {
  const models = ['ollama/m', 'cueline/echo'];
  const message =
    'Request too large for m on tokens per min (TPM): Limit 30000, Requested 31538. The input or output tokens must be reduced.';
  provider.script({ status: 429, body: { error: { message, code: 'rate_limit_exceeded' } } });
  const record = await recordOf({ models });
  assert.deepEqual(listOf(record), [`${models[0]} PROVIDER_RATE_LIMITED`, 'cueline/echo success']);
});

test('a long rate limit moves the execution on; while the breaker is open, without a call', async () => {
  const models = ['ollama/long-limited', 'cueline/echo'];
  const [first, second] = [await recordOf({ models }), await recordOf({ models })];
  assert.deepEqual([first.attempts, second.attempts], [2, 1]);
  assert.deepEqual(listOf(second), ['cueline/echo success']);
  assert.equal(provider.calls.filter(({ model }) => models[0]?.endsWith(model)).length, 1);
});

test('a model that does not answer uses only its share of the time', async () => {
  const models = ['cueline/echo?delay=60000', 'cueline/echo'];
  const record = await recordOf({ models, timeoutMs: 10_000 });
  assert.deepEqual(listOf(record), [`${models[0]} MODEL_TIMEOUT`, 'cueline/echo success']);
});

test('attemptTimeoutMs limits each attempt, also with one model', async () => {
  const model = 'cueline/echo?delay=60000';
  const record = await recordOf({ model, maxAttempts: 2, attemptTimeoutMs: 1_000 });
  assert.deepEqual(listOf(record), Array(2).fill(`${model} MODEL_TIMEOUT`));
  assert.equal(record.errorCode, 'MODEL_TIMEOUT');
});

test('a single attempt is listed too; a key without read does not see the list', async () => {
  const agent = await agentWith({});
  const record = await run(service, agent, key);
  const { latencyMs } = record;
  assert.deepEqual(record.attemptList, [
    {
      ...{ model: 'cueline/echo', inputTokens: 3, outputTokens: 3 },
      ...{ costUSD: 0, costKnown: true, latencyMs },
    },
  ]);
  const { key: own } = await service.key({ permissions: ['execute'] });
  const hidden = await run(service, agent, own);
  assert.equal(hidden.status, 'success');
  assert.equal('attemptList' in hidden, false);
});

test('statistics count the model whose answer was used', async () => {
  const agent = await agentWith({ models: [failing('PROVIDER_QUOTA'), 'cueline/echo'] });
  await run(service, agent, key);
  const { body } = await service.call('GET', `${agent.path}/statistics?groupBy=model`, { key });
  assert.deepEqual(
    body.buckets.map(({ model }: { model: string }) => model),
    ['cueline/echo'],
  );
});
