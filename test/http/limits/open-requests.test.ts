import assert from 'node:assert/strict';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import { idleGauges, unreachableDb } from '../../../harness/system-app.ts';
import { GracefulShutdown } from '../../../src/http/connection/graceful-shutdown.ts';
import { createServer } from '../../../src/http/server.ts';
import { createMetrics } from '../../../src/process/metrics.ts';
import { systemRoutes } from '../../../src/process/system-routes.ts';

/** Responses while as many requests are open as the server accepts. */

const logger = pino({ level: 'silent' });
const app = createServer({ logger, trustedProxies: [], shutdown: new GracefulShutdown() });
const db = unreachableDb();
systemRoutes(app, {
  ...{ db, metrics: createMetrics(idleGauges), metricsToken: null },
  ...{ draining: () => false, leased: () => true },
});
const { promise: released, resolve: release } = Promise.withResolvers<string>();
app.get('/pending', () => released);
let requests = 0;
app.server.on('request', () => requests++);
await app.listen({ host: '127.0.0.1', port: 0 });
const { port } = app.server.address() as AddressInfo;
const url = `http://127.0.0.1:${port}`;
const sockets = Array.from({ length: 51 }, () => pipeline('/pending', 99));
while (requests < 51 * 99) await wait(20);
after(async () => {
  release('done');
  for (const socket of sockets) socket.destroy();
  await app.close();
  await db.destroy();
});

function pipeline(path: string, times: number): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {}).resume();
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`.repeat(times));
  return socket;
}

test('further requests are rejected with 503', async () => {
  for (const path of ['/pending', '/unreachableDb']) {
    const response = await fetch(url + path);
    assert.equal(response.status, 503);
    assert.equal(response.headers.get('retry-after'), '1');
    assert.match(await response.text(), /Too many requests are open/);
  }
});

test('probes and scrapes get a response', async () => {
  for (const method of ['GET', 'HEAD']) {
    assert.equal((await fetch(`${url}/healthz`, { method })).status, 200);
    assert.equal((await fetch(`${url}/metrics`, { method })).status, 200);
  }
  assert.match(await (await fetch(`${url}/readyz`)).text(), /The database does not respond/);
});

test('a body that never arrives does not delay the response of a probe', async () => {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\nx');
  let received = '';
  for await (const bytes of socket.setEncoding('utf8')) received += bytes;
  assert.match(received, /^HTTP\/1\.1 200 .*\r\nconnection: close\r\n/s);
});
