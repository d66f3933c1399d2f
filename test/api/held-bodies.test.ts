import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import { readBody } from '../../src/api/http/body.ts';
import { createGracefulShutdown } from '../../src/api/http/graceful-shutdown.ts';
import { serverLimits } from '../../src/api/http/slow-receivers.ts';
import { createServer } from '../../src/api/server.ts';
import { bodyBytesMax } from '../../src/contract/limits.ts';

/** What the bodies of all calls may take together. */

async function start(heldBytesMax = serverLimits.heldBytesMax) {
  const app = createServer({
    ...{
      logger: pino({ level: 'silent' }),
      trustedProxies: [],
      departure: createGracefulShutdown(),
    },
    slow: { ...serverLimits, heldBytesMax },
  });
  app.get('/small', async () => 'small');
  app.post('/body', async (request) => (await readBody(request)).kind);
  app.post('/text', async (request) => readBody(request));
  await app.listen({ host: '127.0.0.1', port: 0 });
  return { app, port: (app.server.address() as AddressInfo).port };
}

/** So many calls that announce the largest body, and send so much of it. */
function senders(to: number, count: number, bytes: number): Socket[] {
  const head = `POST /body HTTP/1.1\r\nhost: x\r\ncontent-length: ${bodyBytesMax}\r\n\r\n`;
  return Array.from({ length: count }, () => {
    const socket = connect(to, '127.0.0.1');
    socket.on('error', () => {}).resume();
    socket.write(head + 'x'.repeat(bytes));
    return socket;
  });
}

function send(to: number, body: string): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(`http://127.0.0.1:${to}/body`, { method: 'POST', headers, body });
}

test('bodies that are announced and not sent keep nobody out', async () => {
  const patient = await start();
  let requests = 0;
  patient.app.server.on('request', () => requests++);
  const sockets = senders(patient.port, 1_001, 1);
  while (requests < sockets.length) await wait(20);
  assert.equal((await send(patient.port, '{}')).status, 200);
  for (const socket of sockets) socket.destroy();
  await patient.app.close();
});

test('what has arrived of bodies has a bound: above it calls with one are turned away', async () => {
  const { app, port } = await start(2 * bodyBytesMax);
  const sockets = senders(port, 2, bodyBytesMax - 1);
  const body = `"${'x'.repeat(1_000)}"`;
  let refused = await send(port, body);
  for (; refused.status !== 503; refused = await send(port, body)) await wait(20);
  assert.equal(refused.headers.get('retry-after'), '1');
  assert.equal(((await refused.json()) as { code: string }).code, 'UNAVAILABLE');
  assert.equal((await fetch(`http://127.0.0.1:${port}/small`)).status, 200);
  // One byte is left to each of the two, and they may send it.
  sockets[0]?.write('x');
  const [answer] = sockets[0] ? await once(sockets[0], 'data') : [];
  assert.match(String(answer), /^HTTP\/1\.1 200 /);
  assert.equal((await send(port, body)).status, 200);
  for (const socket of sockets) socket.destroy();
  await app.close();
});

test('what was answered or cut off leaves its room to others, as often as one likes', async () => {
  const { app, port } = await start(bodyBytesMax);
  const whole = `"${'x'.repeat(bodyBytesMax - 2)}"`;
  for (let n = 0; n < 3; n++) {
    const [cutOff] = senders(port, 1, bodyBytesMax - 1);
    while ((await send(port, '"xx"')).status !== 503) await wait(20);
    cutOff?.destroy();
    while ((await send(port, '"xx"')).status === 503) await wait(20);
    assert.equal((await send(port, whole)).status, 200);
  }
  await app.close();
});

test('a body is the same however it is cut into chunks', async () => {
  const patient = await start();
  const text = Array.from({ length: 20_000 }, (_, n) => n).join();
  const head =
    'POST /text HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
  for (const size of [1, 7, 1_000, 200_000]) {
    const pieces = text.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
    const chunks = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`);
    const socket = connect(patient.port, '127.0.0.1');
    socket.write(`${head}${chunks.join('')}0\r\n\r\n`);
    let seen = '';
    for await (const bytes of socket.setEncoding('utf8')) seen += bytes;
    assert.ok(seen.includes(`"text":"${text}"`), `in chunks of ${size}`);
  }
  await patient.app.close();
});
