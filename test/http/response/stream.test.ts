import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import Fastify from 'fastify';
import { sendUnread } from '../../../harness/unread-client.ts';
import { ByteShares } from '../../../src/core/byte-shares.ts';
import { Shares } from '../../../src/core/shares.ts';
import { takeResponseSlot } from '../../../src/http/limits/response-slots.ts';
import { streamOf } from '../../../src/http/response/stream-response.ts';

const text = 'x'.repeat(8_000_000);

/** Serves responses of two texts. */
async function served(t: TestContext, bytes: ByteShares, shares: Shares): Promise<string> {
  const app = Fastify({ forceCloseConnections: true });
  app.get('/', (request, reply) => {
    const texts = (async function* () {
      yield text;
      yield text;
    })();
    const slot = takeResponseSlot(shares, 'w');
    return reply.send(streamOf(texts, request, slot, { kind: 'export', bytes }));
  });
  t.after(() => app.close());
  return app.listen({ host: '127.0.0.1', port: 0 });
}

test('texts of exports count until they are sent, and wait for room', async (t) => {
  const bytes = new ByteShares(4 * text.length);
  const url = await served(t, bytes, new Shares({ resource: 'exports', max: 9 }));
  const clients = await Promise.all([1, 2, 3].map(() => sendUnread(url, { path: '/' })));
  while (bytes.paused < 2) await delay(10);
  assert.equal(bytes.used, 2 * text.length);
  clients[0]?.close();
  while (bytes.paused > 1) await delay(10);
  assert.equal(bytes.used, 2 * text.length);
  const received = await Promise.all(clients.slice(1).map((one) => one.readAll()));
  for (const one of received) {
    assert.ok(one.endsWith('\r\n0\r\n\r\n'));
    assert.ok(one.length > 2 * text.length);
  }
  assert.equal(bytes.used, 0);
});

test('a response that waits for room releases its slot once its client has left', async (t) => {
  const bytes = new ByteShares(2 * text.length);
  const shares = new Shares({ resource: 'exports', max: 9 });
  const url = await served(t, bytes, shares);
  const reading = await sendUnread(url, { path: '/' });
  while (bytes.used === 0) await delay(10);
  const waiting = await sendUnread(url, { path: '/' });
  while (bytes.paused === 0) await delay(10);
  assert.equal(shares.used, 2);
  waiting.close();
  while (shares.used > 1) await delay(10);
  assert.equal(bytes.paused, 0);
  reading.close();
  while (shares.used > 0) await delay(10);
  assert.equal(bytes.used, 0);
});
