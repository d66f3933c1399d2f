import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import Fastify from 'fastify';
import { sendUnread } from '../../../../harness/unread-client.ts';
import { createResponseSlots } from '../../../../src/api/http/limits/response-slots.ts';
import { streamOf } from '../../../../src/api/http/response/stream.ts';
import { StreamBytes } from '../../../../src/core/stream-bytes.ts';

test('texts of exports count until they are sent, and wait for room', async (t) => {
  const text = 'x'.repeat(8_000_000);
  const bytes = new StreamBytes(4 * text.length);
  const slots = createResponseSlots('export', { max: 9, ofWorkspaceMax: 9, ofCallerMax: 9 });
  const app = Fastify({ forceCloseConnections: true });
  app.get('/', (request, reply) => {
    const texts = (async function* () {
      yield text;
      yield text;
    })();
    return reply.send(
      streamOf(texts, request, slots.acquire({ id: 'k', workspaceId: 'w' }), bytes),
    );
  });
  t.after(() => app.close());
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
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
