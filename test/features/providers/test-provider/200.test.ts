import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { failing, type Step, startFakeProvider } from '../../../../harness/fake-provider.ts';
import { sealKey, startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';
import { createCredentials } from '../../../../src/features/providers/verbs/credentials.ts';
import { createModels } from '../../../../src/models/registry.ts';

const fake = await startFakeProvider();
after(() => fake.close());
const service = await startService({
  config: { allowedHosts: [fake.host] },
  testConnection: (...asked) => models.testConnection(...asked),
});
after(service.close);
const modelsWith = (testTimeoutMs: number) =>
  createModels({
    open: createCredentials({ sealKey, onUnreadable: () => {} }),
    ...{ env: {}, allowedHosts: [fake.host], testTimeoutMs },
  });
const patient = modelsWith(60_000);
/** For a provider that never answers: a slow machine exceeds it for others too. */
const impatient = modelsWith(1_000);
let models = patient;
after(() => Promise.all([patient.close(), impatient.close()]));

const user = service.ownerId;
const secret = 'sk-never-to-be-shown';
await put('fake', { kind: 'openai-compatible', apiKey: secret, baseURL: 'https://a.example/v1' });
// The harness forbids this host in tests; this test is about the outbound guard.
await sql`update providers set base_url = ${fake.url}`.execute(service.db);

async function put(name: string, body: object) {
  const response = await service.call('PUT', `/api/v1/providers/${name}`, { user, body });
  assert.equal(response.status, 200);
}

async function tested(name = 'fake') {
  const response = await service.call('POST', `/api/v1/providers/${name}/test`, { user });
  assert.equal(response.status, 200);
  assert.ok(!JSON.stringify(response.body).includes(secret));
  return response.body;
}

test('a valid credential is tested with a list of models only', async () => {
  const before = fake.calls.length;
  const { ok, latencyMs, error } = await tested();
  assert.deepEqual([ok, Number.isInteger(latencyMs), error], [true, true, undefined]);
  const [call, ...more] = fake.calls.slice(before);
  assert.deepEqual([call?.method, call?.path, more.length], ['GET', '/v1/models', 0]);
  assert.equal(call?.headers.authorization, `Bearer ${secret}`);
});

const responses: [what: string, step: Step, code: string, said: RegExp][] = [
  [
    'a credential that is refused, and echoed',
    failing(401, `Incorrect API key provided: ${secret}.`, 'invalid_api_key'),
    'PROVIDER_AUTH',
    /answered 401: Incorrect API key provided: \[redacted\]/,
  ],
  ['an error of the server', failing(500, 'It broke.'), 'PROVIDER_ERROR', /500: It broke\./],
  ['a limit', failing(429, 'Slower.'), 'PROVIDER_RATE_LIMITED', /429: Slower\./],
  ['another address', failing(404, 'Nothing.'), 'PROVIDER_ERROR', /Is the base URL right\?/],
  [
    'a page for people',
    { status: 200, body: '<html>Welcome</html>' },
    'PROVIDER_ERROR',
    /could not be read/,
  ],
  ['a reset', 'reset', 'PROVIDER_ERROR', /connection to the provider broke/],
  ['silence', 'hang', 'MODEL_TIMEOUT', /did not answer within 1 seconds/],
];
for (const [what, step, code, said] of responses) {
  test(`reports ${what}`, async () => {
    fake.script(step);
    if (step === 'hang') models = impatient;
    const { ok, latencyMs, error } = await tested();
    models = patient;
    assert.deepEqual([ok, latencyMs, error.code], [false, undefined, code]);
    assert.match(error.message, said);
  });
}

test('the test has the same outbound restrictions as executions', async () => {
  await put('inside', { kind: 'openai-compatible', apiKey: secret, baseURL: 'https://a.example' });
  await sql`
    update providers set base_url = 'http://127.0.0.1:1/v1' where name = 'inside'`.execute(
    service.db,
  );
  const { ok, error } = await tested('inside');
  assert.deepEqual([ok, error.code], [false, 'PROVIDER_NOT_CONFIGURED']);
});

test('reports a credential that is missing or cannot be decrypted', async () => {
  await put('none', { kind: 'openai' });
  assert.match((await tested('none')).error.message, /needs an apiKey/);
  await put('sealed', { kind: 'openai', apiKey: secret });
  await sql`
    update providers set sealed_api_key = ${Buffer.from('other')} where name = 'sealed'`.execute(
    service.db,
  );
  assert.match((await tested('sealed')).error.message, /Store it again/);
});

const tried = (model: string, name = 'extended') =>
  service.call('POST', `/api/v1/providers/${name}/test`, { user, body: { model } });

const headers = { 'x-gateway-key': 'gateway-secret', 'x-short': 'abc' };
const extended = {
  ...{ kind: 'openai-compatible', apiKey: secret, headers },
  query: { 'api-version': '2024-10-21', code: 'query-secret' },
  bodyExtra: { metadata: { token: 'body-secret' } },
};

test('a model is called once, and the exchange returned without secrets', async () => {
  await put('extended', { ...extended, baseURL: 'https://a.example/v1' });
  await sql`
    update providers set base_url = ${fake.url} where name = 'extended'`.execute(service.db);
  for (const model of ['some/model', 'extended/some/model']) {
    const before = fake.calls.length;
    const echo = `${secret} gateway-secret query-secret body-secret`;
    fake.script({ text: `OK ${echo}` });
    const { status, body } = await tried(model);
    assert.deepEqual([status, body.ok, body.error], [200, true, undefined]);
    assert.ok(Number.isInteger(body.latencyMs));
    assert.deepEqual(
      fake.calls.slice(before).map(({ method, model }) => [method, model]),
      [['POST', 'some/model']],
    );
    const { request, answer } = body;
    assert.equal(request.method, 'POST');
    const url = `${fake.url}/chat/completions?api-version=2024-10-21&code=[redacted]`;
    assert.equal(request.url, url);
    assert.partialDeepStrictEqual(request.headers, {
      ...{ authorization: '[redacted]', 'x-gateway-key': '[redacted]', 'x-short': '[redacted]' },
      'content-type': 'application/json',
    });
    assert.partialDeepStrictEqual(request.body, {
      ...{ model: 'some/model', metadata: { token: '[redacted]' } },
      messages: [{ role: 'user', content: 'Reply with OK.' }],
    });
    assert.equal(answer.status, 200);
    assert.equal(
      answer.body.choices[0].message.content,
      'OK [redacted] [redacted] [redacted] [redacted]',
    );
    assert.doesNotMatch(JSON.stringify(body), /-secret|topsecret/);
  }
});

test('a failed call of a model is shown as well', async () => {
  fake.script({
    ...failing(401, `Incorrect API key provided: ${secret}.`, 'invalid_api_key'),
    headers: { 'x-request-id': 'req_1', 'set-cookie': 'session=1' },
  });
  const { body } = await tried('m');
  assert.deepEqual([body.ok, body.error.code], [false, 'PROVIDER_AUTH']);
  assert.equal(
    body.error.message,
    'The provider answered 401: Incorrect API key provided: [redacted].',
  );
  assert.equal(body.answer.status, 401);
  assert.deepEqual(
    [body.answer.headers['x-request-id'], body.answer.headers['set-cookie']],
    ['req_1', undefined],
  );
  assert.equal(body.answer.body.error.message, 'Incorrect API key provided: [redacted].');
  assert.equal(body.request.body.model, 'm');

  fake.script('hang');
  models = impatient;
  const late = await tried('m');
  models = patient;
  assert.deepEqual([late.body.error.code, late.body.answer], ['MODEL_TIMEOUT', null]);
  await put('keyless', { kind: 'openai' });
  const unsent = await tried('m', 'keyless');
  assert.deepEqual([unsent.body.ok, unsent.body.error.code], [false, 'PROVIDER_NOT_CONFIGURED']);
});

test('an answer that the token limit of the test cut before its text is an answer', async () => {
  fake.script({ text: '', finish: 'length' });
  assert.equal((await tried('m')).body.ok, true);
});

test('a model is called even while its breaker is open, and the audit log names it', async () => {
  await tried('audited');
  const audit = await service.call('GET', '/api/v1/audit', { user });
  const [line] = audit.body.audit;
  assert.partialDeepStrictEqual(line, {
    ...{ action: 'provider.test', details: { model: 'audited', ok: true } },
  });
});

test('a test is not an execution', async () => {
  await tested();
  await tried('m');
  const usage = await service.call('GET', '/api/v1/usage', { user });
  const history = await service.call('GET', '/api/v1/executions', { user });
  assert.deepEqual([usage.body.actionsUsed, history.body.pagination.total], [0, 0]);
});
