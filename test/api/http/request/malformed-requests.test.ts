import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, test } from 'node:test';
import { addAgent, run } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { generateKey } from '../../../../src/core/people/key.ts';
import { sql } from '../../../../src/db/sql.ts';

/** Malformed requests get the common error format: four fields, a request id, and never a 5xx. */

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);

/** Sends raw bytes, and reads until the server closes the connection. */
async function raw(text: string): Promise<{ status: number; head: string; body: string }> {
  const { port } = new URL(service.url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => {});
  let response = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    response += chunk;
  });
  socket.write(text);
  await new Promise((resolve) => socket.once('close', resolve));
  const [head = '', body = ''] = response.split('\r\n\r\n');
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), head, body };
}

const broken: [string, string, number][] = [
  ['no HTTP at all', 'hello\r\n\r\n', 400],
  ['a method with a forbidden character', 'F/O / HTTP/1.1\r\nHost: x\r\n\r\n', 400],
  ['an unknown version', 'GET / HTTP/9.9\r\nHost: x\r\n\r\n', 400],
  ['a blank in a header name', 'GET / HTTP/1.1\r\nHost: x\r\nA b: c\r\n\r\n', 400],
  [
    'two lengths',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
    400,
  ],
  ['headers without end', `GET / HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(70_000)}\r\n\r\n`, 431],
];
for (const [what, text, expected] of broken) {
  test(`${what}: ${expected} in the common error format`, async () => {
    const { status, head, body } = await raw(text);
    assert.equal(status, expected);
    const problem = JSON.parse(body);
    assert.deepEqual(Object.keys(problem), ['error', 'message', 'code', 'requestId']);
    assert.ok(head.includes(`X-Request-Id: ${problem.requestId}`));
  });
}

test('a request without a host or with an unknown Expect header is accepted', async () => {
  for (const header of ['', 'Host: x\r\nExpect: something\r\n']) {
    const { status, body } = await raw(`GET /nope HTTP/1.1\r\n${header}Connection: close\r\n\r\n`);
    assert.equal(status, 404);
    assert.equal(JSON.parse(body).code, 'NOT_FOUND');
  }
});

test('CONNECT and methods that no standard knows return 405', async () => {
  for (const line of ['CONNECT x:443', 'FOO /api/v1/agents', 'get /healthz']) {
    const { status, head, body } = await raw(`${line} HTTP/1.1\r\nHost: x\r\n\r\n`);
    assert.equal(status, 405);
    assert.match(head, /^Allow: GET, HEAD, POST/m);
    assert.equal(JSON.parse(body).code, 'METHOD_NOT_ALLOWED');
  }
});

test('what follows a request in the same packet is no request with another method', async () => {
  for (const rest of ['{"a":1}', 'F/O / HTTP/1.1\r\nHost: x\r\n\r\n']) {
    const { status } = await raw(
      `POST /nope HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n${rest}`,
    );
    assert.equal(status, 400);
  }
});

test('unknown methods return 404 or 405', async () => {
  for (const [method, path, expected] of [
    ['QUERY', '/nope', 404],
    ['QUERY', '/api/v1/prompts', 405],
    ['QUERY', '/api/auth/sign-out', 405],
    ['TRACE', '/healthz', 405],
  ]) {
    const end = 'Host: x\r\nConnection: close\r\n\r\n';
    const { status, body } = await raw(`${method} ${path} HTTP/1.1\r\n${end}`);
    assert.equal(status, expected);
    assert.ok(JSON.parse(body).requestId);
  }
});

test('the key is checked first, whatever the path', async () => {
  const body = { variables: { name: 'x' } };
  for (const id of ['%', '%ff', '%E0%A4%A', 'a%2Fb', '%00', 'a'.repeat(9_000)]) {
    const path = `/api/v1/agents/${id}/execute`;
    assert.equal((await service.call('POST', path, { key, body })).status, 404);
    assert.equal((await service.call('POST', path, { key: generateKey(), body })).status, 401);
  }
});

test('a query that cannot be decoded is 400', async () => {
  for (const query of ['q=%ff', 'q=%', 'q=%E0%A4%A', 'limit=1&%C3=x']) {
    const response = await service.call('GET', `/api/v1/executions?${query}`, { key });
    assert.deepEqual([response.status, response.body.code], [400, 'INVALID_REQUEST']);
  }
  const decodable = await service.call('GET', '/api/v1/executions?q=%C3%BF+%25', { key });
  assert.equal(decodable.status, 200);
});

test('a response before the end of the body says connection: close; others keep the connection alive', async () => {
  const path = '/api/v1/agents/%ff';
  const unfinished = `PATCH ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{`;
  const { head } = await raw(unfinished);
  assert.match(head, /^connection: close/im);
  const { headers } = await fetch(`${service.url}/healthz`);
  assert.equal(headers.get('connection'), 'keep-alive');
});

for (const type of [
  'json',
  '/',
  ';',
  'application',
  'application/json/x',
  'application/json, text/plain',
]) {
  test(`content type "${type}" is checked after the key and its limits`, async () => {
    const options = { body: '{"variables":{"name":"x"}}', headers: { 'content-type': type } };
    const path = `${agent.path}/execute`;
    const good = await service.call('POST', path, { key, ...options });
    assert.equal(good.body.code, 'UNSUPPORTED_MEDIA_TYPE');
    assert.equal(
      (await service.call('POST', path, { key: generateKey(), ...options })).status,
      401,
    );
    const { key: spent } = await service.key({ rateLimits: { requestsPerMinute: 0 } });
    assert.equal((await service.call('POST', path, { key: spent, ...options })).status, 429);
    const prompt = await service.call('POST', '/api/v1/prompts', { key, ...options });
    assert.equal(prompt.body.code, 'UNSUPPORTED_MEDIA_TYPE');
  });
}

test('an unsupported transfer coding returns 415', async () => {
  const post = (coding: string) =>
    raw(
      [
        `POST ${agent.path}/execute HTTP/1.1`,
        `Host: x\r\nConnection: close\r\nAuthorization: Bearer ${key}`,
        `Content-Type: application/json\r\nTransfer-Encoding: ${coding}`,
        '\r\n1c\r\n{"variables":{"name":"Ada"}}\r\n0\r\n\r\n',
      ].join('\r\n'),
    );
  for (const coding of ['gzip, chunked', 'x, chunked']) {
    const { status, body } = await post(coding);
    assert.deepEqual([status, JSON.parse(body).code], [415, 'UNSUPPORTED_MEDIA_TYPE']);
  }
  for (const coding of ['chunked', 'Chunked']) assert.equal((await post(coding)).status, 202);
});

test('a malformed Idempotency-Key or query is checked after the key and its limits', async () => {
  const body = { variables: { name: 'x' } };
  const { key: spent } = await service.key({ rateLimits: { requestsPerMinute: 0 } });
  const long = { 'idempotency-key': 'x'.repeat(256) };
  for (const [path, headers] of [
    [`${agent.path}/execute`, long],
    [`${agent.path}/execute?x=1`, {}],
  ] as const) {
    assert.equal((await service.call('POST', path, { key, body, headers })).status, 400);
    assert.equal(
      (await service.call('POST', path, { key: generateKey(), body, headers })).status,
      401,
    );
    assert.equal((await service.call('POST', path, { key: spent, body, headers })).status, 429);
  }
});

test('an invalid query counts as a list call', async () => {
  const { key: fresh } = await service.key();
  const { status, headers } = await service.call('GET', `${agent.path}/executions?limit=0`, {
    key: fresh,
  });
  assert.equal(status, 400);
  assert.equal(headers.get('x-ratelimit-remaining'), '299');
});

test('CORS allows the agent’s origin to read a 401', async () => {
  const open = await addAgent(service, { allowedOrigins: ['https://app.example.com'] });
  const options = {
    key: generateKey(),
    body: '{}',
    headers: { origin: 'https://app.example.com' },
  };
  const { status, headers } = await service.call('POST', `${open.path}/execute`, options);
  assert.equal(status, 401);
  assert.equal(headers.get('access-control-allow-origin'), 'https://app.example.com');
  const other = { ...options, headers: { origin: 'https://other.example.com' } };
  const refused = await service.call('POST', `${open.path}/execute`, other);
  assert.equal(refused.headers.get('access-control-allow-origin'), null);
});

test('the view is read-only, also for its owner', async () => {
  await run(service, agent, key);
  for (const statement of [
    sql`delete from cueline_executions`,
    sql`update cueline_executions set agent_name = 'x'`,
  ]) {
    await assert.rejects(statement.execute(service.db), /read-only/);
  }
});
