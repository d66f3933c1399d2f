import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';

const limit = 2_097_152;
const service = await startService({ config: { callBodyBytes: limit } });
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);
const path = `${agent.path}/execute`;

test('413 for a body above the limit, with or without Content-Length, names the limit and its setting', async () => {
  const body = JSON.stringify({ variables: { name: 'x'.repeat(limit) } });
  const { body: refused } = await service.call('POST', path, { key, body });
  assert.equal(refused.code, 'BODY_TOO_LARGE');
  assert.match(refused.message, /larger than 2097152 bytes \(CUELINE_CALL_BODY_BYTES/);
  const stream = new Blob([body]).stream();
  const response = await fetch(service.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: stream,
    duplex: 'half',
  } as RequestInit);
  assert.equal(response.status, 413);
});

test('a body of exactly the limit is accepted', async () => {
  const frame = JSON.stringify({ variables: { name: '' } }).length;
  const body = JSON.stringify({ variables: { name: 'x'.repeat(limit - frame) } });
  assert.equal((await service.call('POST', path, { key, body })).status, 202);
});

test('413 for a body of another operation above 1 MiB', async () => {
  const body = JSON.stringify({ name: 'x'.repeat(1_048_576) });
  const refused = await service.call('POST', '/api/v1/prompts', { key, body });
  assert.equal(refused.status, 413);
  assert.match(refused.body.message, /larger than 1048576 bytes\./);
});

test('400 for a long body that is not UTF-8', async () => {
  const body = Buffer.from(JSON.stringify({ variables: { name: 'x'.repeat(1_100_000) } }));
  body[1_000_000] = 0xff;
  const refused = await service.call('POST', path, { key, body });
  assert.deepEqual([refused.status, refused.body.code], [400, 'MALFORMED_BODY']);
  assert.match(refused.body.message, /not valid UTF-8/);
});

test('400 for more variables than a call may have, whether or not their names differ', async () => {
  for (const nameOf of [() => 'a', (n: number) => `n${n}`]) {
    const members = Array.from({ length: 10_001 }, (_, n) => `"${nameOf(n)}":1`);
    const refused = await service.call('POST', path, { key, body: `{"variables":{${members}}}` });
    assert.equal(refused.status, 400);
    assert.match(refused.body.message, /^There are 10001 variables, more than 10000\./);
  }
});

test('as many variables as a call may have are accepted', async () => {
  const others = Array.from({ length: 9_999 }, (_, n) => `"n${n}":1`);
  const body = `{"variables":{"name":"x",${others}}}`;
  const accepted = await service.call('POST', path, { key, body });
  assert.equal(accepted.status, 202);
  assert.equal(accepted.body.ignoredVariables.length, 9_999);
});

for (const type of [
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/jsonp',
  'application/json; charset=latin1',
  'application/json; charset="utf-80"',
]) {
  test(`415 for ${type}`, async () => {
    const options = { key, body: '{"variables":{"name":"x"}}', headers: { 'content-type': type } };
    const { status, body } = await service.call('POST', path, options);
    assert.equal(status, 415);
    assert.equal(body.code, 'UNSUPPORTED_MEDIA_TYPE');
  });
}

for (const charset of ['UTF-8', '"utf-8"', ' utf-8', 'utf-8; profile="x"']) {
  test(`application/json with charset ${charset} is accepted`, async () => {
    const headers = { 'content-type': `application/json; charset=${charset}` };
    const body = { variables: { name: 'x' } };
    assert.equal((await service.call('POST', path, { key, body, headers })).status, 202);
  });
}

test('422 if only the last digit of a long number differs', async () => {
  const headers = { 'idempotency-key': 'long number' };
  const send = (number: string) =>
    service.call('POST', path, { key, headers, body: `{"variables":{"name":${number}}}` });
  const first = await send('9007199254740993');
  assert.equal(first.status, 202);
  assert.equal((await send('9007199254740992')).status, 422);
  const again = await send('9007199254740993.0');
  assert.deepEqual([again.status, again.body.executionId], [202, first.body.executionId]);
});

test('422 for an Idempotency-Key with other variables', async () => {
  const headers = { 'idempotency-key': 'taken' };
  await service.call('POST', path, { key, body: { variables: { name: 'x' } }, headers });
  const { status, body } = await service.call('POST', path, {
    key,
    body: { variables: { name: 'y' } },
    headers,
  });
  assert.equal(status, 422);
  assert.equal(body.code, 'IDEMPOTENCY_KEY_REUSED');
});
