import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import { GracefulShutdown } from '../../../src/http/connection/graceful-shutdown.ts';
import { serverLimits } from '../../../src/http/connection/slow-readers.ts';
import { readBody, streamBody } from '../../../src/http/request/body.ts';
import { createServer } from '../../../src/http/server.ts';

const limits = { ...serverLimits, checkMs: 20, sendWindowMs: 200, sendBytesMin: 1_000 };
const reading = Promise.withResolvers<void>();
const app = createServer({
  ...{ logger: pino({ level: 'silent' }), trustedProxies: [], limits },
  shutdown: new GracefulShutdown(),
});
app.post('/body', async (request) => (await readBody(request)).kind);
app.post('/upload', async (request) => {
  let bytes = 0;
  for await (const chunk of streamBody(request.raw)) bytes += chunk.length;
  return String(bytes);
});
/** Reads its body late. */
app.post('/busy', async (request) => {
  await reading.promise;
  return (await readBody(request)).kind;
});
await app.listen({ host: '127.0.0.1', port: 0 });
after(() => app.close());
const { port } = app.server.address() as AddressInfo;

const head = (path: string, length: number) =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;

function open(text: string) {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  let received = '';
  socket.on('data', (data) => {
    received += data;
  });
  socket.on('error', () => {});
  socket.write(text);
  return { socket, received: () => received };
}

for (const path of ['/body', '/upload']) {
  test(`a body that stops or drips is ended with 408: ${path}`, async () => {
    for (const drips of [false, true]) {
      const { socket, received } = open(`${head(path, 100_000)}x`);
      const timer = setInterval(() => drips && socket.write('x'), 20);
      await once(socket, 'close');
      clearInterval(timer);
      const [line = '', json = ''] = received().split('\r\n\r\n');
      assert.match(line, /^HTTP\/1.1 408 /);
      assert.equal(JSON.parse(json).code, 'REQUEST_TIMEOUT');
    }
  });
}

test('a body that brings enough is read to its end, however long it takes', async () => {
  // Each write is enough for a window, and a slow machine delays the checks as well.
  const part = 'x'.repeat(10_000);
  const { socket, received } = open(head('/upload', 40 * part.length));
  for (let sent = 0; sent < 40; sent++) {
    socket.write(part);
    await wait(20);
  }
  while (!received().endsWith('400000')) await once(socket, 'data');
  socket.destroy();
});

test('a client waits for a busy server without being blamed', async () => {
  const { socket, received } = open(`${head('/busy', 10)}12345`);
  // Several windows.
  await wait(1_000);
  assert.equal(received(), '');
  socket.write('67890');
  reading.resolve();
  await once(socket, 'data');
  assert.match(received(), /^HTTP\/1.1 200 /);
  socket.destroy();
});
