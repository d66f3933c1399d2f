import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, run } from '../../../harness/agents.ts';
import { startService } from '../../../harness/service.ts';
import { bytes } from '../../../proof/malformed/attack.ts';
import { oversizes } from '../../../proof/malformed/bodies.ts';
import { framings } from '../../../proof/malformed/framing.ts';
import { heads } from '../../../proof/malformed/heads.ts';
import { checkResponses } from '../../../proof/malformed/response-checks.ts';
import { send } from '../../../proof/malformed/wire.ts';
import { generateKey } from '../../../src/core/people/key.ts';
import { sql } from '../../../src/db/sql.ts';

/** Malformed requests get the common error format: four fields, a request id, and never a 5xx. */

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);

/** Those of the proof `malformed` that are no matter of chance: its others only have to be answered in the format. */
for (const sent of [...heads, ...framings({ key }), ...oversizes({ key })]) {
  const text = JSON.stringify(Buffer.concat(sent.pieces).toString('latin1').slice(0, 200));
  test(`${sent.status ?? 'a response'} to ${text.replaceAll(key, 'KEY')}`, async () => {
    const attack = { what: '', requests: [sent], afterwards: 'read' as const, pauseMs: 0 };
    const received = await send(Number(new URL(service.url).port), attack, new Set());
    assert.deepEqual(checkResponses(attack, received), []);
  });
}

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
  const unfinished = 'PATCH /api/v1/agents/%ff HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{';
  const requests = [bytes(unfinished, 'PATCH', { whole: true })];
  const attack = { what: '', requests, afterwards: 'read' as const, pauseMs: 0 };
  const { answers } = await send(Number(new URL(service.url).port), attack, new Set());
  assert.equal(answers[0]?.headers.get('connection'), 'close');
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
