import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import Fastify from 'fastify';
import { sendUnread } from '../../../harness/unread-client.ts';
import { PacedResponse } from '../../../src/faces/mcp/paced-response.ts';

const piece = Buffer.alloc(65_536, 'x');
/** More than the buffers of a connection take. */
const pieces = 512;
const unsentMax = 8 * piece.length;

/** A server that writes pieces as long as the response is ready for them. */
async function serve(response: PacedResponse, signal: AbortSignal) {
  const app = Fastify({ forceCloseConnections: true });
  const state = { written: 0, unsentMost: 0, isOver: false };
  app.get('/', (request, reply) => {
    const { socket } = request.raw;
    let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
    const body = new ReadableStream<Uint8Array>({
      start(one) {
        controller = one;
      },
    });
    const write = async () => {
      while (state.written < pieces) {
        await response.ready(signal);
        if (signal.aborted) break;
        controller?.enqueue(piece);
        state.written++;
        const unsent = state.written * piece.length - sentTo(socket);
        state.unsentMost = Math.max(state.unsentMost, unsent);
      }
      controller?.close();
    };
    // The body of a client that has left is closed already.
    write()
      .catch(() => {})
      .finally(() => {
        state.isOver = true;
      });
    return reply.send(response.read(body as Parameters<PacedResponse['read']>[0]));
  });
  return { app, state, url: await app.listen({ host: '127.0.0.1', port: 0 }) };
}

function sentTo(socket: Socket): number {
  return socket.bytesWritten - socket.writableLength;
}

test('nothing is written for a client that does not read', async (t) => {
  const { app, state, url } = await serve(new PacedResponse(), new AbortController().signal);
  t.after(() => app.close());
  const client = await sendUnread(url, { path: '/' });
  while (state.written === 0) await new Promise(setImmediate);
  const received = await client.readAll();
  assert.ok(received.endsWith('\r\n0\r\n\r\n'));
  assert.equal(state.written, pieces);
  assert.ok(state.unsentMost < unsentMax, `${state.unsentMost} bytes`);
});

test('a wait ends with its signal, and with the response', async (t) => {
  const leaving = new AbortController();
  const aborted = await serve(new PacedResponse(), leaving.signal);
  const closed = await serve(new PacedResponse(), new AbortController().signal);
  t.after(() => Promise.all([aborted.app.close(), closed.app.close()]));
  const [first, second] = await Promise.all([
    sendUnread(aborted.url, { path: '/' }),
    sendUnread(closed.url, { path: '/' }),
  ]);
  while (aborted.state.written === 0 || closed.state.written === 0) {
    await new Promise(setImmediate);
  }
  leaving.abort();
  second.close();
  while (!aborted.state.isOver || !closed.state.isOver) await new Promise(setImmediate);
  first.close();
});
