import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { freePort } from '../../harness/free-port.ts';
import { answerBytesMax } from '../../src/core/tools/tool-post.ts';
import { createPostTool } from '../../src/net/post-tool.ts';

let answer: http.RequestListener = (_, response) => response.end('ok');
const sockets = new Set<net.Socket>();
const server = http.createServer(async (request, response) => {
  for await (const _ of request);
  answer(request, response);
});
server.on('connection', (socket) => sockets.add(socket));
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
const url = `http://127.0.0.1:${port}/`;
const { post, reach, close } = createPostTool({ allowedHosts: ['127.0.0.1'] });
after(async () => {
  await close();
  server.closeAllConnections();
  server.close();
});

const never = new AbortController().signal;
const send = (more: object = {}) =>
  post({
    ...{ url, headers: {}, body: '{}', timeoutMs: 60_000, keptBytes: 1_000 },
    signal: never,
    ...more,
  });
const textOf = (posted: Awaited<ReturnType<typeof post>>) =>
  posted.kind === 'answered' ? Buffer.from(posted.bytes).toString() : posted.kind;

test('an answer has its status, Retry-After and body', async () => {
  answer = (_, response) => void response.writeHead(429, { 'retry-after': '7' }).end('{"a":1}');
  const posted = await send();
  assert.deepEqual(
    { ...posted, bytes: textOf(posted) },
    { kind: 'answered', status: 429, retryAfter: '7', bytes: '{"a":1}', length: 7, end: 'whole' },
  );
});

test('each request has a connection of its own', async () => {
  answer = (_, response) => response.end('ok');
  sockets.clear();
  for (let n = 0; n < 3; n++) assert.equal(textOf(await send()), 'ok');
  assert.equal(sockets.size, 3);
});

test('a redirect is an answer', async () => {
  answer = (_, response) => void response.writeHead(307, { location: '/elsewhere' }).end();
  const posted = await send();
  assert.equal(posted.kind === 'answered' && posted.status, 307);
});

test('a body that is too long ends the connection', async () => {
  let closed: Promise<unknown> | undefined;
  answer = (_, response) => {
    closed = once(response, 'close');
    const fill = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, 'x')));
    };
    response.on('drain', fill);
    fill();
  };
  const posted = await send();
  assert.equal(posted.kind === 'answered' && posted.end, 'long');
  assert.ok(posted.kind === 'answered' && posted.bytes.length === 1_000);
  await closed;
});

test('of a long body that is allowed only the beginning is held', async () => {
  const body = Buffer.alloc(answerBytesMax, 'x');
  const zipped = { 'content-encoding': 'gzip' };
  for (const [headers, sent] of [[{}, body] as const, [zipped, gzipSync(body)] as const]) {
    answer = (_, response) => void response.writeHead(200, headers).end(sent);
    const posted = await send();
    assert.ok(posted.kind === 'answered');
    const { bytes, length, end } = posted;
    assert.deepEqual([bytes.byteLength, length, end], [1_000, answerBytesMax, 'whole']);
  }
});

test('what is not compressed as its header says is no broken connection', async () => {
  const [whole, cut] = [gzipSync('{"a":1}'), gzipSync('{"a":1}').subarray(0, 15)];
  whole[12] = 0xff;
  for (const sent of [whole, cut]) {
    answer = (_, response) =>
      void response.writeHead(200, { 'content-encoding': 'gzip' }).end(sent);
    const posted = await send();
    assert.equal(posted.kind === 'answered' && posted.end, 'unreadable');
  }
});

test('a compressed body is read, up to the same size', async () => {
  answer = (_, response) =>
    void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"a":1}'));
  assert.equal(textOf(await send()), '{"a":1}');
  const long = gzipSync(Buffer.alloc(answerBytesMax + 1, 'x'));
  answer = (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(long);
  const posted = await send();
  assert.equal(posted.kind === 'answered' && posted.end, 'long');
});

test('a body that breaks is as long as it came', async () => {
  answer = (_, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('half', () => response.destroy());
  };
  const posted = await send();
  assert.equal(posted.kind === 'answered' && posted.end, 'broken');
});

test('nothing was sent without a connection', async () => {
  assert.deepEqual(await send({ url: `http://127.0.0.1:${await freePort()}/` }), {
    kind: 'unsent',
  });
  assert.deepEqual(await send({ signal: AbortSignal.abort() }), { kind: 'unsent' });
});

test('a request that was sent may have arrived, whatever ends it', async () => {
  answer = (request) => void request.socket.destroy();
  assert.deepEqual(await send(), { kind: 'unanswered', why: 'broken' });
  const arrived = Promise.withResolvers<void>();
  answer = () => arrived.resolve();
  const aborting = new AbortController();
  const sent = send({ signal: aborting.signal });
  await arrived.promise;
  aborting.abort();
  assert.deepEqual(await sent, { kind: 'unanswered', why: 'aborted' });
  answer = () => {};
  // On a slow machine, no connection may be made in time.
  let late = await send({ timeoutMs: 50 });
  for (let timeoutMs = 100; late.kind === 'unsent'; timeoutMs *= 2)
    late = await send({ timeoutMs });
  assert.deepEqual(late, { kind: 'unanswered', why: 'timeout' });
});

test('an answer that does not end in time is late, not broken', async () => {
  answer = (_, response) => void response.write('half');
  // On a slow machine, no answer may begin in time.
  let late = await send({ timeoutMs: 200 });
  for (let timeoutMs = 400; late.kind !== 'answered'; timeoutMs *= 2)
    late = await send({ timeoutMs });
  assert.deepEqual([late.end, late.length], ['late', 4]);
});

test('a server that accepts and closes may have read the request', async () => {
  const closing = net.createServer((socket) => void socket.once('data', () => socket.destroy()));
  closing.listen(0, '127.0.0.1');
  await once(closing, 'listening');
  const { port: other } = closing.address() as AddressInfo;
  const posted = await send({ url: `http://127.0.0.1:${other}/` });
  assert.deepEqual(posted, { kind: 'unanswered', why: 'broken' });
  closing.close();
});

test('the guard forbids private addresses, names of them and plain http', async () => {
  for (const forbidden of [
    'http://127.0.0.2/',
    'https://10.0.0.1/',
    'https://[::1]/',
    'http://example.com/',
  ]) {
    assert.deepEqual(await send({ url: forbidden }), { kind: 'forbidden' }, forbidden);
  }
});

test('a server is reached if it answers anything', async () => {
  const methods: string[] = [];
  answer = (request, response) => {
    methods.push(request.method ?? '');
    response.writeHead(501).end();
  };
  assert.equal(await reach(url), null);
  assert.deepEqual(methods, ['HEAD']);
  assert.match(
    (await reach(`http://127.0.0.1:${await freePort()}/`)) ?? '',
    /Could not reach the tool server/,
  );
  assert.match((await reach('https://10.0.0.1/')) ?? '', /public address/);
});
