import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { startService } from '../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);
const path = `${agent.path}/execute`;

test('413 where the body is larger than 1 MiB, with its length told or not', async () => {
  const body = JSON.stringify({ variables: { name: 'x'.repeat(1_048_576) } });
  assert.equal((await service.call('POST', path, { key, body })).body.code, 'BODY_TOO_LARGE');
  const stream = new Blob([body]).stream();
  const answer = await fetch(service.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: stream,
    duplex: 'half',
  } as RequestInit);
  assert.equal(answer.status, 413);
});

test('a body of just 1 MiB is taken', async () => {
  const frame = JSON.stringify({ variables: { name: '' } }).length;
  const body = JSON.stringify({ variables: { name: 'x'.repeat(1_048_576 - frame) } });
  assert.equal((await service.call('POST', path, { key, body })).status, 202);
});

for (const type of [
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/jsonp',
  'application/json; charset=latin1',
]) {
  test(`415 for ${type}`, async () => {
    const options = { key, body: '{"variables":{"name":"x"}}', headers: { 'content-type': type } };
    const { status, body } = await service.call('POST', path, options);
    assert.equal(status, 415);
    assert.equal(body.code, 'UNSUPPORTED_MEDIA_TYPE');
  });
}

test('application/json with a charset of UTF-8 is taken', async () => {
  const headers = { 'content-type': 'application/json; charset=UTF-8' };
  const { status } = await service.call('POST', path, {
    key,
    body: { variables: { name: 'x' } },
    headers,
  });
  assert.equal(status, 202);
});

test('422 where an Idempotency-Key comes with other variables', async () => {
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
