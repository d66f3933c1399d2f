import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, run } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { ModelFailure, noCost } from '../../../../src/core/model/model-port.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const first = await service.key();
const second = await service.key();
const agent = await addAgent(service, { user: 'Greet {{name}} of {{customer}}' });
const variables = [
  { name: 'Ada', customer: 'acme' },
  { name: 'Bob', customer: 'acme', seats: 5 },
  { name: 'Cyd', customer: 'acme inc', tags: ['a', 'b'] },
  { name: 'Dan', customer: 'O\'Neil "&" 100%' },
];
const [ada, bob, cyd, dan] = [
  await run(service, agent, first.key, variables[0] ?? {}),
  await run(service, agent, first.key, variables[1] ?? {}),
  await run(service, agent, second.key, variables[2] ?? {}),
  await failing(),
];

async function failing() {
  service.models.script(new ModelFailure('PROVIDER_AUTH', 'no', { cost: noCost }));
  return run(service, agent, second.key, variables[3] ?? {});
}

/** The names of the matches, oldest first. */
async function found(query: Record<string, string>): Promise<string[]> {
  const search = new URLSearchParams(query);
  const { status, body } = await service.call('GET', `${agent.path}/executions?${search}`, {
    key: first.key,
  });
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(body.pagination.total, body.executions.length);
  return body.executions
    .map((one: { inputVariables: { name: string } }) => one.inputVariables.name)
    .reverse();
}

test('by key, version, model and error code', async () => {
  assert.deepEqual(await found({ apiKeyId: second.apiKeyId }), ['Cyd', 'Dan']);
  assert.deepEqual(await found({ promptVersionId: agent.promptVersionId }), [
    'Ada',
    'Bob',
    'Cyd',
    'Dan',
  ]);
  assert.deepEqual(await found({ model: 'cueline/echo', apiKeyId: first.apiKeyId }), [
    'Ada',
    'Bob',
  ]);
  assert.deepEqual(await found({ errorCode: 'PROVIDER_AUTH' }), ['Dan']);
  assert.deepEqual(await found({ errorCode: 'MODEL_TIMEOUT' }), []);
});

test('an unknown or malformed id matches nothing', async () => {
  assert.deepEqual(await found({ apiKeyId: 'key_nothing' }), []);
  assert.deepEqual(await found({ promptVersionId: second.apiKeyId }), []);
  assert.deepEqual(await found({ model: 'no/such' }), []);
});

test('by the value of a variable: strings as text, other values as JSON', async () => {
  assert.deepEqual(await found({ 'variables.customer': 'acme' }), ['Ada', 'Bob']);
  assert.deepEqual(await found({ 'variables.customer': 'acme', 'variables.name': 'Bob' }), ['Bob']);
  assert.deepEqual(await found({ 'variables.customer': 'O\'Neil "&" 100%' }), ['Dan']);
  assert.deepEqual(await found({ 'variables.seats': '5' }), ['Bob']);
  assert.deepEqual(await found({ 'variables.tags': '["a","b"]' }), ['Cyd']);
  assert.deepEqual(await found({ 'variables.nothing': '' }), []);
});

test('by words in output and variables, in any case', async () => {
  assert.deepEqual(await found({ q: 'greet ACME' }), ['Ada', 'Bob', 'Cyd']);
  assert.deepEqual(await found({ q: '"acme inc"' }), ['Cyd']);
  assert.deepEqual(await found({ q: 'acme -ada' }), ['Bob', 'Cyd']);
  assert.deepEqual(await found({ q: 'ada or dan' }), ['Ada', 'Dan']);
  // The failed execution has variables but no output.
  assert.deepEqual(await found({ q: 'greet dan' }), []);
});

test('by latency and cost, both limits inclusive', async () => {
  const at = { Ada: [10, 0.001], Bob: [20, 0.002], Cyd: [30, 0.003], Dan: [40, 0] };
  for (const [name, [latency, cost]] of Object.entries(at)) {
    await sql`
      update executions set latency_ms = ${latency}, cost_usd = ${cost}
      where input_variables ->> 'name' = ${name}`.execute(service.db);
  }
  assert.deepEqual(await found({ latencyMsMin: '20', latencyMsMax: '30' }), ['Bob', 'Cyd']);
  assert.deepEqual(await found({ costUSDMin: '0.002' }), ['Bob', 'Cyd']);
  assert.deepEqual(await found({ costUSDMax: '0.0010', status: 'success' }), ['Ada']);
  assert.deepEqual(
    await found({ costUSDMin: '0.001', q: 'cyd', 'variables.customer': 'acme inc' }),
    ['Cyd'],
  );
});

test("by the provider's id of the request", async () => {
  await sql`
    update executions set provider_request_id = 'req_' || (input_variables ->> 'name')
    where input_variables ->> 'name' in ('Bob', 'Dan')`.execute(service.db);
  assert.deepEqual(await found({ providerRequestId: 'req_Dan' }), ['Dan']);
  assert.deepEqual(await found({ providerRequestId: 'req_Bob', status: 'failed' }), []);
  assert.deepEqual(await found({ providerRequestId: 'req_' }), []);
});

test('pages of a search contain every record once, by offset and by cursor', async () => {
  const path = `${agent.path}/executions?q=acme&limit=1`;
  const byOffset = [0, 1, 2, 3].map((offset) =>
    service.call('GET', `${path}&offset=${offset}`, { key: first.key }),
  );
  const pages = (await Promise.all(byOffset)).map(({ body }) => body);
  const ids = pages.flatMap(({ executions }) =>
    executions.map((one: { executionId: string }) => one.executionId),
  );
  assert.deepEqual(
    ids,
    [cyd, bob, ada].map((one) => one.executionId),
  );
  assert.deepEqual(
    pages.map(({ pagination }) => pagination.hasMore),
    [true, true, false, false],
  );
  const { body } = await service.call('GET', `${path}&cursor=${pages[0].nextCursor}`, {
    key: first.key,
  });
  assert.equal(body.executions[0].executionId, bob.executionId);
  assert.equal(body.pagination.total, 3);
  assert.notEqual(dan.executionId, ada.executionId);
});
