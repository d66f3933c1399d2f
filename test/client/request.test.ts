import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../../src/client/index.ts';
import { failure, json, problem, type Step, stage } from './server.ts';

const agent = 'agt_1';

test('a call goes out as the contract says', async (t) => {
  const { asked, client } = await stage(t, json(202, { executionId: 'exe_1' }));
  const answer = await client().execute(agent, { topic: 'tides', n: 1 }, { idempotencyKey: 'k' });
  assert.deepEqual(answer, { executionId: 'exe_1' });
  const [call] = asked;
  assert.equal(call?.method, 'POST');
  assert.equal(call?.url, '/api/v1/agents/agt_1/execute');
  assert.deepEqual(call?.body, { variables: { topic: 'tides', n: 1 } });
  assert.equal(call?.headers.authorization, 'Bearer cue_secret');
  assert.equal(call?.headers['content-type'], 'application/json');
  assert.equal(call?.headers['idempotency-key'], 'k');
  assert.equal(call?.headers['cueline-workspace'], undefined);
});

test('a session sends no key, but may name its workspace', async (t) => {
  const { asked, url } = await stage(t, json(200, {}));
  await createClient({ baseURL: `${url}/behind/a/proxy//`, workspace: 'wsp_1' }).me();
  assert.equal(asked[0]?.url, '/behind/a/proxy/api/v1/me');
  assert.equal(asked[0]?.headers.authorization, undefined);
  assert.equal(asked[0]?.headers['content-type'], undefined);
  assert.equal(asked[0]?.headers['cueline-workspace'], 'wsp_1');
});

test('what is left out of a query is not sent, and the rest is escaped', async (t) => {
  const { asked, client } = await stage(t, json(200, { agents: [] }));
  await client().agents.list({ q: 'a&b=c d', limit: 5, tag: undefined, archived: true });
  assert.equal(asked[0]?.url, '/api/v1/agents?q=a%26b%3Dc+d&limit=5&archived=true');
});

test('a path parameter cannot lead to another operation', async (t) => {
  const { asked, client } = await stage(t, json(200, {}));
  await client().agents.get('a/../b?c#d');
  assert.equal(asked[0]?.url, '/api/v1/agents/a%2F..%2Fb%3Fc%23d');
  for (const id of ['', '.', '..']) await assert.rejects(client().agents.get(id), TypeError);
  assert.equal(asked.length, 1);
});

test('bodies are read and written as JSON, or as the caller wants it', async (t) => {
  const { asked, client } = await stage(t, json(202, { n: 1.5 }), problem(400, 'INVALID_REQUEST'));
  const parse = (text: string) => JSON.parse(text, (_, value) => (value === 1.5 ? '1.50' : value));
  const stringify = (value: unknown) => JSON.stringify(value).replace('"1.50"', '1.50');
  const exact = client({ json: { parse, stringify } });
  assert.deepEqual(await exact.execute(agent, { n: '1.50' }), { n: '1.50' });
  assert.deepEqual(asked[0]?.body, { variables: { n: 1.5 } });
  assert.equal((await failure(exact.me())).code, 'INVALID_REQUEST');
});

test('an answer without a body is nothing', async (t) => {
  const { client } = await stage(t, (response) => response.writeHead(204).end());
  assert.equal(await client().agents.delete(agent), undefined);
});

test('an etag comes with what was read and goes back with the change', async (t) => {
  const { asked, client } = await stage(t, json(200, { agentId: agent }, { etag: '"7"' }));
  const { agent: read, etag } = await client().agents.getWithEtag(agent);
  assert.deepEqual(read, { agentId: agent });
  await client().agents.update(agent, { agentName: 'B' }, { ifMatch: etag ?? '' });
  assert.equal(asked[1]?.headers['if-match'], '"7"');
});

test("a refusal carries the server's words and all its fields", async (t) => {
  const fields = { missingVariables: ['a'], requiredVariables: ['a', 'b'] };
  const { asked, client } = await stage(t, problem(400, 'MISSING_VARIABLES', { fields }));
  const error = await failure(client().execute(agent, {}));
  assert.equal(error.name, 'CuelineError');
  assert.equal(error.status, 400);
  assert.equal(error.code, 'MISSING_VARIABLES');
  assert.equal(error.message, 'Refused: MISSING_VARIABLES.');
  assert.equal(error.requestId, 'req_1');
  assert.equal(error.retryAfterMs, null);
  assert.deepEqual((error.body as typeof fields).missingVariables, ['a']);
  assert.equal(asked.length, 1);
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
  test(`${name} is an unexpected answer`, async (t) => {
    const { client } = await stage(t, step);
    const error = await failure(client().execute(agent, {}));
    assert.equal(error.code, 'UNEXPECTED_ANSWER');
    assert.equal(error.status, status);
    assert.notEqual(error.body, null);
  });
}

const page: Step = (r) =>
  r.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>');
const unpromised: [string, Step, number][] = [
  ['a page to sign in at', page, 200],
  ['nothing', (r) => r.writeHead(204).end(), 204],
  ['JSON of no length', (r) => r.writeHead(202, { 'content-type': 'application/json' }).end(), 202],
];
for (const [name, step, status] of unpromised) {
  test(`${name} in place of the promised JSON is an error that says where from`, async (t) => {
    const { asked, url, client } = await stage(t, step);
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
    assert.equal(asked.length, 4);
  });
}

test('a deletion is done where nothing is answered, and no other way', async (t) => {
  const { client } = await stage(t, page, json(200, {}));
  for (let n = 0; n < 2; n++) {
    const error = await failure(client().deleteExecution(agent, 'exe_1'));
    assert.deepEqual([error.code, error.status], ['UNEXPECTED_ANSWER', 200]);
  }
});

test('what is no JSON by contract is read as text', async (t) => {
  const metrics = 'runs 1\n';
  const { client } = await stage(t, (r) =>
    r.writeHead(200, { 'content-type': 'text/plain' }).end(metrics),
  );
  assert.equal((await client().request('GET /metrics', {})).body, metrics);
});

test('a redirect is not followed: the key goes nowhere else', async (t) => {
  const elsewhere = await stage(t, json(200, {}));
  const { client } = await stage(t, (response) =>
    response.writeHead(307, { location: `${elsewhere.url}/api/v1/usage` }).end(),
  );
  const error = await failure(client({ retries: 0 }).usage());
  assert.equal(error.code, 'CONNECTION_FAILED');
  assert.equal(elsewhere.asked.length, 0);
});

test('a host may bring its own fetch', async (t) => {
  const { asked, client } = await stage(t, json(200, { month: '2026-11' }));
  const seen: string[] = [];
  const usage = await client({
    fetch: (input, init) => {
      seen.push(String(input));
      return fetch(input, init);
    },
  }).usage();
  assert.equal(usage.month, '2026-11');
  assert.equal(seen.length, asked.length);
});
