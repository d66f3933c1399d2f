import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { addAgent } from '../../../harness/agents.ts';
import { startService } from '../../../harness/service.ts';
import { generateKey } from '../../../src/core/people/key.ts';

/** Compressed bodies, and long ones of callers who may not send them. */

const limit = 2_097_152;
const service = await startService({ config: { callBodyBytes: limit } });
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);
const path = `${agent.path}/execute`;

function post(body: Buffer | string, encoding: string, options: { at?: string; as?: string } = {}) {
  const { at = path, as = key } = options;
  const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
  return service.call('POST', at, { key: as, body, headers });
}

const json = JSON.stringify({ variables: { name: 'Ada' } });

for (const [encoding, body] of [
  ['gzip', gzipSync(json)],
  ['GZIP', Buffer.concat([gzipSync(json.slice(0, 9)), gzipSync(json.slice(9))])],
  ['x-gzip', gzipSync(json)],
  ['deflate', deflateSync(json)],
  ['identity', json],
] as const) {
  test(`a body in ${encoding} is read`, async () => {
    const { status, body: accepted } = await post(body, encoding);
    assert.equal(status, 202, JSON.stringify(accepted));
    const { body: record } = await service.call('GET', `${accepted.statusUrl}?wait=30`, { key });
    assert.deepEqual(record.inputVariables, { name: 'Ada' });
  });
}

test('415 for a compressed body of any other call', async () => {
  const { status } = await post(gzipSync('{"name":"Compressed"}'), 'gzip', {
    at: '/api/v1/prompts',
  });
  assert.equal(status, 415);
});

test('nothing of a body is decompressed for a key that does not exist', async () => {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  const body = gzipSync(' '.repeat(1_000_000));
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${generateKey()}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length + 1}\r\n\r\n`,
  );
  socket.write(body);
  assert.match(await text(socket), /^HTTP\/1\.1 401 /);
});

for (const [encoding, body] of [
  ['br', brotliCompressSync(json)],
  ['gzip, gzip', gzipSync(gzipSync(json))],
  ['zip', json],
] as const) {
  test(`415 for a body in ${encoding}`, async () => {
    const { status, body: refused } = await post(body, encoding);
    assert.deepEqual([status, refused.code], [415, 'UNSUPPORTED_MEDIA_TYPE']);
    assert.match(refused.message, /gzip or deflate/);
  });
}

for (const [what, body] of [
  ['plain text', json],
  ['gzip that is cut off', gzipSync(json).subarray(0, -9)],
] as const) {
  test(`400 for ${what} sent as gzip`, async () => {
    const { status, body: refused } = await post(body, 'gzip');
    assert.deepEqual([status, refused.code], [400, 'MALFORMED_BODY']);
    assert.match(refused.message, /Content-Encoding/);
  });
}

test('the limit holds for what a body expands to, which is read no further', async () => {
  const bomb = gzipSync(Buffer.alloc(64 * limit, ' '));
  assert.ok(bomb.length < limit);
  const { status, body } = await post(bomb, 'gzip');
  assert.deepEqual([status, body.code], [413, 'BODY_TOO_LARGE']);
  assert.match(body.message, /larger than 2097152 bytes/);
  const spaces = gzipSync(json + ' '.repeat(limit - json.length));
  assert.equal((await post(spaces, 'gzip')).status, 202);
});

test('a key that does not exist is refused before more than 1 MiB of its body has arrived', async () => {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${generateKey()}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${limit}\r\n\r\n`;
  socket.write(`${head}${' '.repeat(1_048_577)}`);
  assert.match(await text(socket), /^HTTP\/1\.1 401 /);
  const { status } = await post(gzipSync(' '.repeat(limit)), 'gzip', { as: generateKey() });
  assert.equal(status, 401);
});
