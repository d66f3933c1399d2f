import assert from 'node:assert/strict';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { pino } from 'pino';
import { GracefulShutdown } from '../../../src/http/connection/graceful-shutdown.ts';
import { BodyBytes } from '../../../src/http/limits/body-bytes.ts';
import { readBody } from '../../../src/http/request/body.ts';
import { createServer } from '../../../src/http/server.ts';

/** A server with room for 100,000 bytes, whose route holds what it has read until it may answer. */
let mayAnswer = Promise.withResolvers<void>();
let nowMs = 0;
const bodyBytes = new BodyBytes(100_000, () => nowMs);
const shutdown = new GracefulShutdown();
const app = createServer({
  ...{ logger: pino({ level: 'silent' }), trustedProxies: [], shutdown, bodyBytes },
});
let read = 0;
let senders = 0;
app.post('/', async (request) => {
  const [owner] = [request.headers['x-owner']].flat();
  if (owner === 'early') bodyBytes.assign(request, 'workspace');
  const body = await readBody(request);
  if (owner === 'late') bodyBytes.assign(request, 'workspace');
  read++;
  await mayAnswer.promise;
  return { kind: body.kind };
});
await app.listen({ host: '127.0.0.1', port: 0 });
const { port } = app.server.address() as AddressInfo;
after(() => app.close());

/** Sends the beginning of a body, each with a credential of its own. */
function begin(
  bytes: number,
  sent = bytes,
  credential = String(++senders),
  owner = 'unknown',
): Socket {
  const socket = connect(port, '127.0.0.1');
  const headers = `host: x\r\nauthorization: ${credential}\r\nx-owner: ${owner}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${bytes}`;
  socket.write(`POST / HTTP/1.1\r\n${headers}\r\n\r\n${'1'.repeat(sent)}`);
  return socket;
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 2));
}

test('bodies without room are refused with 503; short ones always have room', async () => {
  const held = [begin(50_000), begin(40_000)];
  await until(() => read === 2);
  assert.equal(bodyBytes.used, 90_000);
  const refused = await text(begin(20_000));
  assert.match(refused, /^HTTP\/1\.1 503 /);
  assert.match(refused, /"code":"UNAVAILABLE"/);
  assert.match(refused, /bodies of open requests use .* 100000 bytes/);
  assert.match(refused, /retry-after: 1\r\n/);
  assert.equal(bodyBytes.refusals, 1);
  const short = begin(10_000);
  await until(() => read === 3);
  mayAnswer.resolve();
  for (const socket of [...held, short]) assert.match(await text(socket), /^HTTP\/1\.1 200 /);
  assert.equal(bodyBytes.used, 0);
});

test('a body that does not end gives way to others, but not at once', async () => {
  mayAnswer = Promise.withResolvers();
  mayAnswer.resolve();
  const unended = begin(90_000, 80_000);
  await until(() => bodyBytes.used === 80_000);
  assert.match(await text(begin(30_000)), /^HTTP\/1\.1 503 /);
  nowMs += 5_000;
  assert.match(await text(begin(30_000)), /^HTTP\/1\.1 200 /);
  assert.match(await text(unended), /^HTTP\/1\.1 503 /);
  assert.equal(bodyBytes.used, 0);
});

test('a slow body without room for its rest is refused itself, and counts no longer', async () => {
  mayAnswer = Promise.withResolvers();
  const whole = begin(60_000);
  await until(() => bodyBytes.used === 60_000);
  const slow = begin(60_000, 30_000);
  await until(() => bodyBytes.used === 90_000);
  nowMs += 5_000;
  slow.write('1'.repeat(20_000));
  assert.match(await text(slow), /^HTTP\/1\.1 503 /);
  assert.equal(bodyBytes.used, 60_000);
  mayAnswer.resolve();
  assert.match(await text(whole), /^HTTP\/1\.1 200 /);
  assert.equal(bodyBytes.used, 0);
});

test('one credential leaves a tenth to others', async () => {
  mayAnswer = Promise.withResolvers();
  const held = begin(80_000, 80_000, 'mine');
  await until(() => bodyBytes.used === 80_000);
  assert.match(await text(begin(17_000, 17_000, 'mine')), /^HTTP\/1\.1 503 /);
  const other = begin(17_000);
  await until(() => bodyBytes.used === 97_000);
  mayAnswer.resolve();
  for (const socket of [held, other]) assert.match(await text(socket), /^HTTP\/1\.1 200 /);
});

test('one workspace leaves a tenth to others, whatever credentials it has', async () => {
  mayAnswer = Promise.withResolvers();
  read = 0;
  const held = [begin(30_000, 30_000, 'a', 'late'), begin(50_000, 50_000, 'b', 'early')];
  await until(() => read === 2);
  assert.match(await text(begin(17_000, 17_000, 'c', 'early')), /^HTTP\/1\.1 503 /);
  const other = begin(17_000);
  await until(() => bodyBytes.used === 97_000);
  mayAnswer.resolve();
  for (const socket of [...held, other]) assert.match(await text(socket), /^HTTP\/1\.1 200 /);
  assert.equal(bodyBytes.used, 0);
});

test('a client that leaves holds nothing', async () => {
  const leaving = begin(90_000, 80_000);
  await until(() => bodyBytes.used === 80_000);
  leaving.destroy();
  await until(() => bodyBytes.used === 0);
});
