import assert from 'node:assert/strict';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import { createGracefulShutdown } from '../../src/api/http/graceful-shutdown.ts';
import { createMetrics } from '../../src/api/http/metrics.ts';
import { systemRoutes } from '../../src/api/routes/system/system.ts';
import { createServer } from '../../src/api/server.ts';
import { nowhere, still } from './system-app.ts';

/** What is answered while as many requests are open as the server works on. */

const logger = pino({ level: 'silent' });
const app = createServer({ logger, trustedProxies: [], departure: createGracefulShutdown() });
const db = nowhere();
systemRoutes(app, {
  ...{ db, metrics: createMetrics(still), metricsToken: null },
  ...{ draining: () => false, leased: () => true },
});
const { promise: released, resolve: release } = Promise.withResolvers<string>();
app.get('/held', () => released);
app.get('/held-beyond', { config: { openMoreMax: 3 } }, () => released);
let requests = 0;
app.server.on('request', () => requests++);
await app.listen({ host: '127.0.0.1', port: 0 });
const { port } = app.server.address() as AddressInfo;
const url = `http://127.0.0.1:${port}`;
const sockets = Array.from({ length: 51 }, () => askMany('/held', 99));
while (requests < 51 * 99) await wait(20);
after(async () => {
  release('held');
  for (const socket of sockets) socket.destroy();
  await app.close();
  await db.destroy();
});

function askMany(path: string, times: number): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {}).resume();
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`.repeat(times));
  return socket;
}

test('others are turned away', async () => {
  for (const path of ['/held', '/nowhere']) {
    const response = await fetch(url + path);
    assert.equal(response.status, 503);
    assert.equal(response.headers.get('retry-after'), '1');
    assert.match(await response.text(), /Too many requests are open/);
  }
});

test('whoever watches over the process hears from it', async () => {
  for (const method of ['GET', 'HEAD']) {
    assert.equal((await fetch(`${url}/healthz`, { method })).status, 200);
    assert.equal((await fetch(`${url}/metrics`, { method })).status, 200);
  }
  assert.match(await (await fetch(`${url}/readyz`)).text(), /The database does not answer/);
});

test('a body that never comes holds no answer to them up', async () => {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\nx');
  let seen = '';
  for await (const bytes of socket.setEncoding('utf8')) seen += bytes;
  assert.match(seen, /^HTTP\/1\.1 200 .*\r\nconnection: close\r\n/s);
});

test('what may have to wait has a bound of its own', async () => {
  // Those that were turned away are not open any more.
  const beyond = askMany('/held-beyond', 3);
  sockets.push(beyond);
  const before = requests;
  while (requests < before + 3) await wait(20);
  assert.equal((await fetch(`${url}/held-beyond`)).status, 503);
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
});
