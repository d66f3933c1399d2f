import assert from 'node:assert/strict';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { pino } from 'pino';
import { GracefulShutdown } from '../../../src/http/connection/graceful-shutdown.ts';
import { readBody } from '../../../src/http/request/body.ts';
import { createServer } from '../../../src/http/server.ts';

test('a body is the same for every chunk size', async () => {
  const shutdown = new GracefulShutdown();
  const app = createServer({ logger: pino({ level: 'silent' }), trustedProxies: [], shutdown });
  app.post('/text', async (request) => readBody(request));
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const text = Array.from({ length: 20_000 }, (_, n) => n).join();
  const head =
    'POST /text HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
  for (const size of [1, 7, 1_000, 200_000]) {
    const pieces = text.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
    const chunks = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`);
    const socket = connect(port, '127.0.0.1');
    socket.write(`${head}${chunks.join('')}0\r\n\r\n`);
    let received = '';
    for await (const bytes of socket.setEncoding('utf8')) received += bytes;
    assert.ok(received.includes(`"text":"${text}"`), `in chunks of ${size}`);
  }
  await app.close();
});
