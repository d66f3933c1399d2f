import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type AgentOptions, addAgent, ended, run } from '../../../../harness/agents.ts';
import { setPrice } from '../../../../harness/prices.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
/** A dollar for a thousand tokens of output; input is free. */
const model = 'mine/dear';
await setPrice(service, model, { inputPerMillion: '0', outputPerMillion: '1000' });

const limited = (maxCostUSD: number, options: AgentOptions = {}) =>
  addAgent(service, {
    model,
    ...options,
    config: { maxTokens: 10, maxCostUSD, ...options.config },
  });
const execute = (path: string, body: object, headers = {}, by = key) =>
  service.call('POST', `${path}/execute`, { key: by, body, headers });
const variables = { name: 'you' };

test('a call that may cost more than the limit of its agent is refused', async () => {
  const { path } = await limited(0.0099);
  const { status, body } = await execute(path, { variables });
  assert.deepEqual([status, body.code], [400, 'COST_LIMIT_TOO_LOW']);
  assert.deepEqual([body.maxCostUSD, body.neededUSD], [0.0099, 0.01]);
  assert.match(body.message, /up to 0\.01 USD, .* limit of 0\.0099 USD/);
  const enough = await limited(0.01);
  assert.equal((await run(service, enough, key)).status, 'success');
});

test('the lower limit of the agent and of the call holds', async () => {
  const low = await limited(0.001);
  const high = await limited(5);
  for (const [path, maxCostUSD, expected] of [
    [low.path, 5, 400],
    [high.path, 0.001, 400],
    [high.path, 0.01, 202],
  ] as const) {
    const { status, body } = await execute(path, { variables, maxCostUSD });
    assert.equal(status, expected);
    if (expected === 400) assert.equal(body.maxCostUSD, 0.001);
  }
});

test('nothing is recorded or spent', async () => {
  const agent = await limited(0.001);
  await execute(agent.path, { variables });
  const { rows } = await sql<{ refused: number }>`
    select count(*)::int as refused from executions where agent_id = ${agent.id}`.execute(
    service.db,
  );
  assert.equal(rows[0]?.refused, 0);
});

test('each byte of a prompt counts as a token, as often as it is sent', async () => {
  const bytewise = 'mine/bytewise';
  await setPrice(service, bytewise, { inputPerMillion: '1', outputPerMillion: '0' });
  const { path } = await addAgent(service, {
    ...{ model: bytewise, system: 'Be {{name}}!', user: '{{name}}{{name}}' },
    config: { maxCostUSD: 0.000001 },
  });
  const { body } = await execute(path, { variables: { name: 'é'.repeat(1_000) } });
  // Two messages, "Be !" and three values of 2,000 bytes.
  assert.equal(body.neededUSD, (2 * 16 + 4 + 3 * 2_000) / 1e6);
});

test('a long value is measured as well', async () => {
  const bytewise = 'mine/bytewise-long';
  await setPrice(service, bytewise, { inputPerMillion: '1', outputPerMillion: '0' });
  const agent = await addAgent(service, {
    model: bytewise,
    user: '{{name}}',
    config: { maxCostUSD: 1 },
  });
  const name = 'x'.repeat(999_984);
  const { body } = await execute(agent.path, { variables: { name } });
  assert.equal((await ended(service, body.statusUrl, key)).status, 'success');
  const longer = await execute(agent.path, { variables: { name: `${name}x` }, maxCostUSD: 1 });
  assert.equal(longer.body.neededUSD, 1.000001);
});

test('a model without a price is refused, with how to set one', async () => {
  const { path } = await addAgent(service, { model: 'mine/free', config: { maxCostUSD: 1 } });
  const { status, body } = await execute(path, { variables });
  assert.deepEqual([status, body.code], [400, 'PRICE_UNKNOWN']);
  const { status: accepted } = await execute(
    (await addAgent(service, { model: 'mine/free' })).path,
    {
      variables,
    },
  );
  assert.equal(accepted, 202);
});

test('options with an output limit of their own are refused', async () => {
  const providerOptions = { mine: { max_tokens: 9 } };
  const { path } = await addAgent(service, { model, config: { providerOptions } });
  const { status, body } = await execute(path, { variables, maxCostUSD: 1 });
  assert.deepEqual([status, body.code], [400, 'PRICE_UNKNOWN']);
  assert.match(body.message, /"providerOptions\.mine\.max_tokens"/);
});

test('amounts are left out for a key that sees no costs', async () => {
  const { path } = await limited(0.001);
  const options = { permissions: ['execute'], allowedOrigins: ['https://shop.example'] } as const;
  const { key: ofPage } = await service.key(options);
  const { body } = await execute(path, { variables }, {}, ofPage);
  assert.equal(body.code, 'COST_LIMIT_TOO_LOW');
  assert.doesNotMatch(JSON.stringify(body), /0\.0/);
});

test('a limit must be a number above 0', async () => {
  const { path } = await limited(1);
  for (const maxCostUSD of [0, -1, '1', null, 1_000_001, true]) {
    const { status, body } = await execute(path, { variables, maxCostUSD });
    assert.deepEqual([status, body.code], [400, 'INVALID_REQUEST']);
    assert.match(body.message, /"maxCostUSD"/);
  }
});

test('a repeated call may have another limit', async () => {
  const { path } = await limited(1);
  const headers = { 'idempotency-key': 'the same' };
  const first = await execute(path, { variables, maxCostUSD: 0.5 }, headers);
  const second = await execute(path, { variables, maxCostUSD: 0.001 }, headers);
  assert.deepEqual([first.status, second.status], [202, 202]);
  assert.equal(second.body.executionId, first.body.executionId);
});

test('without maxTokens, the call is sent with a limit, and the record says so', async () => {
  const agent = await addAgent(service, { model, config: { maxCostUSD: 5 } });
  const record = await run(service, agent, key);
  assert.deepEqual(record.settingsApplied, { maxTokens: 4_096 });
  assert.equal(service.models.calls.at(-1)?.maxTokens, 4_096);
  const { settingsApplied } = await run(service, await limited(5), key);
  assert.equal(settingsApplied, undefined);
});
