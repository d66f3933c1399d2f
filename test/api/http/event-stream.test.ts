import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { asksForStream, eventStream, type SentEvent } from '../../../src/api/http/event-stream.ts';
import { streamHeartbeatMs } from '../../../src/contract/limits.ts';

/** A stream of events that the test sends. */
function open(t: TestContext, check: () => Promise<unknown> = async () => {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const stopping = new AbortController();
  const queue: PromiseWithResolvers<SentEvent | null>[] = [Promise.withResolvers()];
  async function* events(): AsyncGenerator<SentEvent, void, undefined> {
    for (let at = 0; ; at++) {
      const event = await queue[at]?.promise;
      if (!event) return;
      yield event;
    }
  }
  const send = (event: SentEvent | null) => {
    const last = queue.at(-1);
    queue.push(Promise.withResolvers());
    last?.resolve(event);
  };
  stopping.signal.addEventListener('abort', () => send(null));
  const warnings: string[] = [];
  const log = { warn: (_: object, message: string) => warnings.push(message) };
  const stream = eventStream(events(), { log } as unknown as FastifyRequest, { stopping, check });
  const texts = stream.setEncoding('utf8')[Symbol.asyncIterator]();
  return { stream, send, warnings, stopping, next: async () => (await texts.next()).value };
}

/** Lets pending promises run. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Lets time pass until this has happened: the timer may not be set yet. */
async function letPass<T>(t: TestContext, awaited: Promise<T>): Promise<T> {
  let isSettled = false;
  const settled = () => {
    isSettled = true;
  };
  awaited.then(settled, settled);
  while (!isSettled) {
    t.mock.timers.tick(streamHeartbeatMs);
    await settle();
  }
  return awaited;
}

test('events are sent in the form of the standard, and their end ends the stream', async (t) => {
  const { send, next, stopping } = open(t);
  send({ event: 'text', id: '1.2', data: { text: 'a\nb' } });
  assert.equal(await next(), 'id: 1.2\nevent: text\ndata: {"text":"a\\nb"}\n\n');
  send({ event: 'end', data: {} });
  assert.equal(await next(), 'event: end\ndata: {}\n\n');
  send(null);
  assert.equal(await next(), undefined);
  await settle();
  assert.equal(stopping.signal.aborted, true);
});

test('while nothing happens, a comment is sent every 15 seconds, after a check', async (t) => {
  let checks = 0;
  const { send, next } = open(t, async () => void checks++);
  for (const round of [1, 2]) {
    assert.equal(await letPass(t, next()), ':\n\n');
    assert.equal(checks, round);
  }
  const event = next();
  send({ event: 'end', data: {} });
  assert.match(String(await event), /^event: end/);
});

test('a check that fails ends the stream', async (t) => {
  const { stream, next, warnings, stopping } = open(t, () => Promise.reject(new Error('revoked')));
  stream.on('error', () => {});
  await assert.rejects(letPass(t, next()), /revoked/);
  assert.deepEqual([warnings, stopping.signal.aborted], [['stream aborted'], true]);
});

test('a stream is sent to clients that accept one', () => {
  const accepts = (accept?: string) =>
    asksForStream({ headers: { accept } } as unknown as FastifyRequest);
  for (const accept of ['text/event-stream', 'application/json, Text/Event-Stream;q=0.9']) {
    assert.equal(accepts(accept), true, accept);
  }
  for (const accept of [undefined, '*/*', 'application/json', 'text/plain']) {
    assert.equal(accepts(accept), false);
  }
});
