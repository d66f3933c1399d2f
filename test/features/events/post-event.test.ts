import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { resolvesTo } from '../../../harness/resolves-to.ts';
import { hideSecrets } from '../../../src/models/failure/redact.ts';
import { createPostEvent } from '../../../src/net/post-event.ts';

let requests = 0;
let answer: http.RequestListener = (_, response) => response.end('ok');
const server = http.createServer((request, response) => {
  requests++;
  request.resume();
  answer(request, response);
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
const url = `http://127.0.0.1:${port}/`;
const { post, close } = createPostEvent({ hideSecrets, allowedHosts: ['127.0.0.1'] });
after(async () => {
  await close();
  server.closeAllConnections();
  server.close();
});

const never = new AbortController().signal;
const send = (signal = never) => post({ url, headers: {}, body: '{}', signal });

test('the answer has the status, Retry-After and the first 1,000 characters', async () => {
  answer = (_, response) =>
    void response.writeHead(429, { 'retry-after': '7' }).end('😀'.repeat(2_000));
  assert.deepEqual(await send(), {
    ...{ status: 429, retryAfter: '7', text: '😀'.repeat(1_000) },
  });
});

test('an endless body is not read: its beginning is the answer', async () => {
  const piece = Buffer.alloc(65_536, 'x');
  let closed: Promise<unknown> | undefined;
  answer = (_, response) => {
    closed = once(response, 'close');
    response.writeHead(200);
    const fill = () => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', fill);
    fill();
  };
  assert.deepEqual(await send(), { status: 200, retryAfter: null, text: 'x'.repeat(1_000) });
  await closed;
});

test('a body that never ends after its headers still counts as answered', async () => {
  answer = (_, response) => void response.writeHead(202).write('a');
  assert.deepEqual(await send(), { status: 202, retryAfter: null, text: 'a' });
});

test('redirects are not followed', async () => {
  answer = (_, response) => void response.writeHead(301, { location: url }).end();
  const before = requests;
  assert.equal((await send()).status, 301);
  assert.equal(requests, before + 1);
});

test('an abort ends a request without an answer', async () => {
  const controller = new AbortController();
  const reason = new Error('late');
  answer = () => controller.abort(reason);
  await assert.rejects(send(controller.signal), reason);
});

test('a connection that breaks is named', async () => {
  answer = (request) => request.socket.destroy();
  await assert.rejects(send(), /^OutboundFailure: The connection to the receiver broke: /);
});

test('a name that resolves to a private address sends nothing', async () => {
  const before = requests;
  for (const address of ['127.0.0.1', '10.0.0.1', '::1', '169.254.169.254']) {
    const rebound = createPostEvent({
      hideSecrets,
      allowedHosts: [],
      resolve: resolvesTo(address),
    });
    await assert.rejects(
      rebound.post({
        url: `https://shop.example:${port}/`,
        headers: {},
        body: '{}',
        signal: never,
      }),
      /^OutboundFailure: The URL does not point to a public address/,
    );
    await rebound.close();
  }
  const mixed = createPostEvent({
    hideSecrets,
    allowedHosts: [],
    resolve: resolvesTo('93.184.216.34', '127.0.0.1'),
  });
  await assert.rejects(
    mixed.post({ url: `https://shop.example:${port}/`, headers: {}, body: '{}', signal: never }),
    /public address/,
  );
  await mixed.close();
  assert.equal(requests, before);
});
