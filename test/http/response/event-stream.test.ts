import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { mock, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import Fastify from 'fastify';
import { ByteShares } from '../../../src/core/byte-shares.ts';
import { CallFailure } from '../../../src/core/failure.ts';
import { streamHeartbeatMs } from '../../../src/http/contract/contract-limits.ts';
import {
  addEventStreamHook,
  EventStream,
  eventStreamHeaders,
  type SentEvent,
} from '../../../src/http/response/event-stream.ts';

type Source = (signal: AbortSignal) => AsyncGenerator<SentEvent, void, undefined>;

/** The response of a server that streams these events, and what happens there. */
async function open(
  t: TestContext,
  source: Source,
  check: () => Promise<unknown> = async () => {},
) {
  const stopping = new AbortController();
  const bytes = new ByteShares(1_000_000);
  const closing = new EventEmitter();
  const closed = once(closing, 'close');
  const warnings: string[] = [];
  const stream = { write: (line: string) => void warnings.push(JSON.parse(line).msg) };
  const app = Fastify({ forceCloseConnections: true, logger: { level: 'warn', stream } });
  addEventStreamHook(app);
  app.addHook('onSend', (_request, reply, payload, done) => {
    reply.header('x-late', 'yes');
    done(null, payload);
  });
  app.get('/', (request, reply) => {
    const options = { stopping, check, bytes, onClose: () => closing.emit('close') };
    reply.headers(eventStreamHeaders);
    reply.send(new EventStream(source(stopping.signal), request, options));
    return reply;
  });
  t.after(() => app.close());
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const [response] = (await once(get({ port, agent: false }), 'response')) as [IncomingMessage];
  return { response, stopping, closed, warnings, bytes };
}

/** Nothing happens until the stream stops. */
async function* silent(signal: AbortSignal): AsyncGenerator<SentEvent, void, undefined> {
  yield { data: 0 };
  await once(signal, 'abort');
}

test('events are sent one after the other, with the headers of every hook', async (t) => {
  const { response, stopping, closed } = await open(t, async function* () {
    yield { event: 'a', id: '1', data: { b: 1 } };
    yield { data: 'c' };
  });
  assert.equal(response.statusCode, 200);
  assert.equal(response.headers['content-type'], 'text/event-stream; charset=utf-8');
  assert.equal(response.headers['x-late'], 'yes');
  assert.equal(await text(response), 'id: 1\nevent: a\ndata: {"b":1}\n\ndata: "c"\n\n');
  await closed;
  assert.equal(stopping.signal.aborted, true);
});

test('a reader that leaves stops its stream at once', async (t) => {
  const { response, stopping, closed } = await open(t, silent);
  response.destroy();
  await closed;
  assert.equal(stopping.signal.aborted, true);
});

test('the next event is requested once the previous one is read', async (t) => {
  let requested = 0;
  const { response, closed } = await open(t, async function* () {
    for (;;) {
      requested++;
      yield { data: 'x'.repeat(1_048_576) };
    }
  });
  await once(response, 'readable');
  const before = requested;
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
  assert.ok(requested - before < 50, `${requested} events were requested`);
  response.destroy();
  await closed;
});

test('what is being written counts, and a long event is written in slices', async (t) => {
  const long = 'x'.repeat(12_000_000);
  const { response, closed, bytes } = await open(t, async function* () {
    yield { data: { long } };
  });
  // The client reads nothing, so the buffers of the connection fill up.
  while (response.socket?.bytesRead === 0 || bytes.used === 0) await delay(5);
  assert.ok(bytes.used < 200_000, `${bytes.used} bytes`);
  assert.equal(await text(response), `data: ${JSON.stringify({ long })}\n\n`);
  await closed;
  assert.equal(bytes.used, 0);
});

test('an error that precedes the first event is a response', async (t) => {
  const { response, closed } = await open(t, async function* () {
    yield* [];
    throw new Error('no events');
  });
  assert.equal(response.statusCode, 500);
  assert.match(await text(response), /no events/);
  await closed;
});

test('a later error of the events breaks the response off', async (t) => {
  const { response, stopping, closed, warnings } = await open(t, async function* () {
    yield { data: 1 };
    throw new Error('lost');
  });
  await assert.rejects(text(response), { code: 'ECONNRESET' });
  await closed;
  assert.equal(stopping.signal.aborted, true);
  assert.deepEqual(warnings, ['stream aborted']);
});

test('an error of the events after the reader left is not reported', async (t) => {
  const { response, closed, warnings } = await open(t, async function* (signal) {
    yield* silent(signal);
    throw new Error('The connections are closed.');
  });
  response.destroy();
  await closed;
  assert.deepEqual(warnings, []);
});

test('an idle stream sends comments and is checked, and ends once the check refuses', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  let checks = 0;
  const { response, stopping, closed } = await open(t, silent, async () => {
    checks++;
    if (checks === 2) throw new CallFailure('UNAVAILABLE', 'The database is unavailable.');
    if (checks === 3) throw new CallFailure('UNAUTHORIZED', 'The key is revoked.');
  });
  let received = '';
  response.setEncoding('utf8').on('data', (chunk) => {
    received += chunk;
  });
  const ended = once(response, 'close');
  while (!stopping.signal.aborted) {
    mock.timers.tick(streamHeartbeatMs);
    await new Promise(setImmediate);
  }
  await assert.rejects(ended, { code: 'ECONNRESET' });
  await closed;
  assert.equal(checks, 3);
  assert.equal(received, 'data: 0\n\n:\n\n:\n\n');
});

test('a connection is left as it was', async (t) => {
  const listeners: number[] = [];
  const app = Fastify({ forceCloseConnections: true });
  addEventStreamHook(app);
  app.get('/', (request, reply) => {
    listeners.push(request.raw.socket.listenerCount('close'));
    const source = (async function* () {
      yield { data: 1 };
    })();
    const bytes = new ByteShares(1_000_000);
    const options = { stopping: new AbortController(), check: async () => {}, bytes };
    reply.headers(eventStreamHeaders).send(new EventStream(source, request, options));
    return reply;
  });
  t.after(() => app.close());
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  for (let call = 0; call < 3; call++) {
    const [response] = (await once(get({ port, agent }), 'response')) as [IncomingMessage];
    assert.equal(await text(response), 'data: 1\n\n');
  }
  assert.equal(new Set(listeners).size, 1, `${listeners}`);
});

test('a route keeps its own hooks, and those of Fastify for HEAD', async (t) => {
  const app = Fastify({ forceCloseConnections: true });
  addEventStreamHook(app);
  app.get('/', {
    onSend: async (_request, reply) => void reply.header('x-route', 'yes'),
    handler: async () => 'twelve bytes',
  });
  t.after(() => app.close());
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const { headers } = await fetch(url, { method: 'HEAD' });
  assert.equal(headers.get('x-route'), 'yes');
  assert.equal(headers.get('content-length'), '12');
});
