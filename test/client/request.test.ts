import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../../src/client/index.ts';
import { failure, json, problem, type Step, stage } from './server.ts';

const agent = 'agt_1';

test('a request is sent as the contract declares', async (t) => {
  const { requests, client } = await stage(t, json(202, { executionId: 'exe_1' }));
  const answer = await client().execute(agent, { topic: 'tides', n: 1 }, { idempotencyKey: 'k' });
  assert.deepEqual(answer, { executionId: 'exe_1' });
  const [call] = requests;
  assert.equal(call?.method, 'POST');
  assert.equal(call?.url, '/api/v1/agents/agt_1/execute');
  assert.deepEqual(call?.body, { variables: { topic: 'tides', n: 1 } });
  assert.equal(call?.headers.authorization, 'Bearer cue_secret');
  assert.equal(call?.headers['content-type'], 'application/json');
  assert.equal(call?.headers['idempotency-key'], 'k');
  assert.equal(call?.headers['cueline-workspace'], undefined);
});

test('a session sends no key but may select its workspace', async (t) => {
  const { requests, url } = await stage(t, json(200, {}));
  await createClient({ baseURL: `${url}/behind/a/proxy//`, workspace: 'wsp_1' }).me();
  assert.equal(requests[0]?.url, '/behind/a/proxy/api/v1/me');
  assert.equal(requests[0]?.headers.authorization, undefined);
  assert.equal(requests[0]?.headers['content-type'], undefined);
  assert.equal(requests[0]?.headers['cueline-workspace'], 'wsp_1');
});

test('undefined query parameters are omitted and the others are percent-encoded', async (t) => {
  const { requests, client } = await stage(t, json(200, { agents: [] }));
  await client().agents.list({ q: 'a&b=c d', limit: 5, tag: undefined, archived: true });
  assert.equal(requests[0]?.url, '/api/v1/agents?q=a%26b%3Dc+d&limit=5&archived=true');
});

test('a path parameter cannot address another operation', async (t) => {
  const { requests, client } = await stage(t, json(200, {}));
  await client().agents.get('a/../b?c#d');
  assert.equal(requests[0]?.url, '/api/v1/agents/a%2F..%2Fb%3Fc%23d');
  for (const id of ['', '.', '..']) await assert.rejects(client().agents.get(id), TypeError);
  assert.equal(requests.length, 1);
});

test("bodies use JSON or the caller's parser", async (t) => {
  const { requests, client } = await stage(
    t,
    json(202, { n: 1.5 }),
    problem(400, 'INVALID_REQUEST'),
  );
  const parse = (text: string) => JSON.parse(text, (_, value) => (value === 1.5 ? '1.50' : value));
  const stringify = (value: unknown) => JSON.stringify(value).replace('"1.50"', '1.50');
  const exact = client({ json: { parse, stringify } });
  assert.deepEqual(await exact.execute(agent, { n: '1.50' }), { n: '1.50' });
  assert.deepEqual(requests[0]?.body, { variables: { n: 1.5 } });
  assert.equal((await failure(exact.me())).code, 'INVALID_REQUEST');
});

test('a response without a body is null', async (t) => {
  const { client } = await stage(t, (response) => response.writeHead(204).end());
  assert.equal(await client().agents.delete(agent), undefined);
});

test('an etag is returned with a read and sent with the update', async (t) => {
  const { requests, client } = await stage(t, json(200, { agentId: agent }, { etag: '"7"' }));
  const { agent: read, etag } = await client().agents.getWithEtag(agent);
  assert.deepEqual(read, { agentId: agent });
  await client().agents.update(agent, { agentName: 'B' }, { ifMatch: etag ?? '' });
  assert.equal(requests[1]?.headers['if-match'], '"7"');
});

test("an error contains the server's message and all fields", async (t) => {
  const fields = { missingVariables: ['a'], requiredVariables: ['a', 'b'] };
  const { requests, client } = await stage(t, problem(400, 'MISSING_VARIABLES', { fields }));
  const error = await failure(client().execute(agent, {}));
  assert.equal(error.name, 'CuelineError');
  assert.equal(error.status, 400);
  assert.equal(error.code, 'MISSING_VARIABLES');
  assert.equal(error.message, 'Refused: MISSING_VARIABLES.');
  assert.equal(error.requestId, 'req_1');
  assert.equal(error.retryAfterMs, null);
  assert.deepEqual((error.body as typeof fields).missingVariables, ['a']);
  assert.equal(requests.length, 1);
});

const strange: [string, Step, number][] = [
  ['a page of a proxy', (r) => r.writeHead(413, { 'content-type': 'text/html' }).end('<h1>'), 413],
  ['JSON of something else', json(418, { oops: true }), 418],
  [
    'JSON that is none',
    (r) => r.writeHead(200, { 'content-type': 'application/json' }).end('{'),
    0,
  ],
];
for (const [name, step, status] of strange) {
  test(`${name} is an unexpected response`, async (t) => {
    const { client } = await stage(t, step);
    const error = await failure(client().execute(agent, {}));
    assert.equal(error.code, 'UNEXPECTED_ANSWER');
    assert.equal(error.status, status);
    assert.notEqual(error.body, null);
  });
}

const page: Step = (r) =>
  r.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>');
const unexpected: [string, Step, number][] = [
  ['a page to sign in at', page, 200],
  ['nothing', (r) => r.writeHead(204).end(), 204],
  ['JSON of no length', (r) => r.writeHead(202, { 'content-type': 'application/json' }).end(), 202],
];
for (const [name, step, status] of unexpected) {
  test(`${name} instead of the expected JSON is an error with the URL`, async (t) => {
    const { requests, url, client } = await stage(t, step);
    for (const call of [
      () => client().execute(agent, {}),
      () => client().wait(agent, 'exe_1'),
      () => client().executeAndWait(agent, {}),
      () => client().openExport(null, { q: 'secret' }),
    ]) {
      const error = await failure(call());
      assert.deepEqual([error.code, error.status], ['UNEXPECTED_ANSWER', status]);
      assert.ok(error.message.includes(` ${url}/api/v1/`), error.message);
      assert.doesNotMatch(error.message, /secret/);
    }
    assert.equal(requests.length, 4);
  });
}

test('only a 204 is a successful deletion', async (t) => {
  const { client } = await stage(t, page, json(200, {}));
  for (let n = 0; n < 2; n++) {
    const error = await failure(client().deleteExecution(agent, 'exe_1'));
    assert.deepEqual([error.code, error.status], ['UNEXPECTED_ANSWER', 200]);
  }
});

test('operations without a JSON response return text', async (t) => {
  const metrics = 'runs 1\n';
  const { client } = await stage(t, (r) =>
    r.writeHead(200, { 'content-type': 'text/plain' }).end(metrics),
  );
  assert.equal((await client().request('GET /metrics', {})).body, metrics);
});

test('redirects are not followed, so the key is not sent elsewhere', async (t) => {
  const elsewhere = await stage(t, json(200, {}));
  const { client } = await stage(t, (response) =>
    response.writeHead(307, { location: `${elsewhere.url}/api/v1/usage` }).end(),
  );
  const error = await failure(client({ retries: 0 }).usage());
  assert.equal(error.code, 'CONNECTION_FAILED');
  assert.equal(elsewhere.requests.length, 0);
});

test('a host may provide its own fetch', async (t) => {
  const { requests, client } = await stage(t, json(200, { month: '2026-11' }));
  const seen: string[] = [];
  const usage = await client({
    fetch: (input, init) => {
      seen.push(String(input));
      return fetch(input, init);
    },
  }).usage();
  assert.equal(usage.month, '2026-11');
  assert.equal(seen.length, requests.length);
});
