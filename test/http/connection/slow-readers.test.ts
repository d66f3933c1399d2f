import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import { closeWithin, GracefulShutdown } from '../../../src/http/connection/graceful-shutdown.ts';
import type { ServerLimits } from '../../../src/http/connection/slow-readers.ts';
import { bodyBytesMax } from '../../../src/http/contract/contract-limits.ts';
import { readBody } from '../../../src/http/request/body.ts';
import { createServer } from '../../../src/http/server.ts';

const large = 'x'.repeat(1_000_000);
/** More than the kernel buffers for a client that does not read. */
const huge = Buffer.alloc(16 * 1024 * 1024);

/** Short limits. */
const limits: ServerLimits = {
  ...{ headersMs: 400, requestMs: 800, checkMs: 100 },
  ...{ readWindowMs: 400, readBytesMin: 65_536 },
  // The rule for slow senders has its own tests.
  ...{ sendWindowMs: 60_000, sendBytesMin: 1 },
};
let counted = 0;
/** The caller address of `/reset`, after its connection was reset. */
const addressAfterReset = Promise.withResolvers<string | undefined>();
const { app, port } = await start(limits);
/** For what no time limit ends: a busy machine exceeds short ones. */
const patientLimits = { ...limits, headersMs: 60_000, requestMs: 60_000, readWindowMs: 60_000 };
const patient = await start(patientLimits);
after(() => Promise.all([app.close(), patient.app.close()]));

async function start(limits: ServerLimits) {
  const shutdown = new GracefulShutdown();
  const logger = pino({ level: 'silent' });
  const app = createServer({ logger, trustedProxies: [], shutdown, limits });
  app.get('/small', async () => 'small');
  app.get('/large', async () => large);
  app.get('/huge', async () => huge);
  app.get('/wait', async () => {
    await wait(1_500);
    return 'waited';
  });
  app.post('/count', async () => ++counted);
  app.get('/reset', async (request) => {
    await new Promise((resolve) => request.raw.socket.once('close', resolve));
    addressAfterReset.resolve(request.ip);
  });
  app.post('/body', async (request) => (await readBody(request)).kind);
  await app.listen({ host: '127.0.0.1', port: 0 });
  return { app, port: (app.server.address() as AddressInfo).port };
}

const get = 'GET /large HTTP/1.1\r\nhost: x\r\n\r\n';

/** Resolves with the received text when the server has closed the connection. */
async function receiveUntilClosed(begin: (socket: Socket) => void, drip?: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.setEncoding('utf8').on('data', (text) => {
    received += text;
  });
  socket.on('error', () => {});
  await once(socket, 'connect');
  begin(socket);
  const timer = drip === undefined ? undefined : setInterval(() => socket.write(drip), 50);
  await once(socket, 'close');
  clearInterval(timer);
  return received;
}

const connections = () =>
  new Promise<number>((resolve) => app.server.getConnections((_, count) => resolve(count)));

async function untilAllClosed(): Promise<void> {
  while ((await connections()) > 0) await wait(20);
}

test('a client that sends nothing times out', async () => {
  assert.match(await receiveUntilClosed(() => {}), /^HTTP\/1.1 408 /);
  await untilAllClosed();
});

test('a client that sends its headers slowly times out', async () => {
  const received = await receiveUntilClosed(
    (socket) => socket.write('GET /large HTTP/1.1\r\nx: '),
    'y',
  );
  assert.match(received, /^HTTP\/1.1 408 .*The request did not arrive in time/s);
  await untilAllClosed();
});

test('a client that sends its body slowly times out', async () => {
  const head = 'POST /body HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';
  for (const length of ['content-length: 1000000', 'transfer-encoding: chunked']) {
    const drip = length.includes('chunked') ? '1\r\n1\r\n' : '1';
    const received = await receiveUntilClosed(
      (socket) => socket.write(`${head}${length}\r\n\r\n`),
      drip,
    );
    assert.match(received, /^HTTP\/1.1 408 /);
  }
  await untilAllClosed();
});

test('a client that keeps sending after its timeout is disconnected', async () => {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => {}).resume();
  await once(socket, 'connect');
  socket.write('GET /large HTTP/1.1\r\nx: ');
  await once(socket, 'end');
  const timer = setInterval(() => socket.write('y'), 20);
  await untilAllClosed();
  clearInterval(timer);
  socket.destroy();
});

test('a client that does not read its responses is disconnected', async () => {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.pause();
  await once(socket, 'connect');
  socket.write(get.repeat(40));
  while ((await connections()) === 0) await wait(5);
  await untilAllClosed();
  socket.destroy();
});

test('unread responses do not count as open requests', async () => {
  const { app, port } = await start(patientLimits);
  let requests = 0;
  app.server.on('request', () => requests++);
  const sockets = Array.from({ length: 60 }, () => connect(port, '127.0.0.1'));
  for (const socket of sockets) socket.on('error', () => {}).pause();
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  // Together more than may be open at once.
  const small = get.replace('large', 'small').repeat(94);
  for (const socket of sockets) socket.write(get.replace('large', 'huge') + small);
  while (requests < 60 * 95) await wait(20);
  assert.equal((await fetch(`http://127.0.0.1:${port}/small`)).status, 200);
  for (const socket of sockets) socket.destroy();
  await app.close();
});

test('a steady reader gets the full response, and a long poll is not disconnected', async (t) => {
  const { app, port } = await start({ ...patientLimits, readWindowMs: 1_000 });
  t.after(() => app.close());
  const url = `http://127.0.0.1:${port}`;
  const waiting = fetch(`${url}/wait`).then((response) => response.text());
  let length = 0;
  const response = await fetch(`${url}/large`);
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    await wait(50);
  }
  assert.equal(length, large.length);
  assert.equal(await waiting, 'waited');
});

test('a slow but steady reader gets all of a long response', async () => {
  // The response is many times larger than the kernel's buffers and takes longer than one window.
  const { app, port } = await start({ ...patientLimits, readWindowMs: 3_000 });
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('GET /huge HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  let length = 0;
  socket.on('data', (bytes) => {
    length += bytes.length;
    socket.pause();
    setTimeout(() => socket.resume(), 20);
  });
  await once(socket, 'close');
  assert.ok(length > huge.length);
  await app.close();
});

test('a client is not blamed for pauses of the server', async (t) => {
  const { app, port } = await start({ ...patientLimits, readWindowMs: 1_000 });
  t.after(() => app.close());
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('GET /huge HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  let length = 0;
  let pauses = 0;
  socket.on('data', (bytes) => {
    length += bytes.length;
    // Each is longer than a window, in which the client cannot read either.
    if (++pauses <= 4) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_100);
  });
  await once(socket, 'close');
  assert.ok(length > huge.length);
});

test('the caller address is known after a reset', async () => {
  const socket = connect(patient.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('GET /reset HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(patient.app.server, 'request');
  socket.resetAndDestroy();
  assert.equal(await addressAfterReset.promise, '127.0.0.1');
});

test('an incomplete request does not delay the shutdown', async () => {
  const ending = await start(patientLimits);
  const begun = ['GET / HT', 'POST /body HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n12'];
  const sockets = begun.map((text) => {
    const socket = connect(ending.port, '127.0.0.1').on('error', () => {});
    socket.write(text);
    return socket;
  });
  const closed = Promise.all(sockets.map((socket) => once(socket, 'close')));
  await wait(100);
  await closeWithin(ending.app, 50);
  await closed;
});

test('a client that sends all of a rejected body before it reads gets the response', async () => {
  for (const [path, status] of [
    ['/none', 404],
    ['/body', 200],
  ] as const) {
    const socket = connect(patient.port, '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'connect');
    // On a slow machine it may close before everything is written.
    const closed = once(socket, 'close');
    socket.pause();
    const length = 4 * bodyBytesMax;
    socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`);
    for (let sent = 0; sent < length; sent += bodyBytesMax) {
      socket.write('x'.repeat(bodyBytesMax));
      // Several writes, because the kernel may accept one before the server responds.
      await wait(20);
    }
    let received = '';
    socket.setEncoding('utf8').on('data', (text) => {
      received += text;
    });
    socket.resume();
    await closed;
    assert.match(received, new RegExp(`^HTTP/1\\.1 ${status} .*connection: close`, 's'), path);
  }
});

test('an unread response is complete although a later rejected body closes the connection', async () => {
  const socket = connect(patient.port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.pause();
  const body = 'x'.repeat(200_000);
  socket.write(`${get}POST /none HTTP/1.1\r\nhost: x\r\ncontent-length: 200000\r\n\r\n`);
  socket.write(body);
  // Time in which the server could close the connection too early.
  await wait(300);
  let received = '';
  socket.setEncoding('utf8').on('data', (text) => {
    received += text;
  });
  socket.resume();
  await once(socket, 'close');
  assert.ok(received.includes(large));
  assert.match(received, /HTTP\/1\.1 404 /);
});

test('a request after the response that closes the connection is not executed', async () => {
  const socket = connect(patient.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.setEncoding('utf8');
  await once(socket, 'connect');
  socket.write('POST /none HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nab');
  const [response] = await once(socket, 'data');
  assert.match(response, /^HTTP\/1\.1 404 .*\r\nconnection: close\r\n/s);
  const before = counted;
  socket.write('cdPOST /count HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(socket, 'close');
  assert.equal(counted, before);
});

test('a reset of a draining connection does not end the process', async () => {
  for (const line of ['CONNECT x:1', 'GET  /']) {
    // Not `once`, which would also listen to errors.
    const closed = new Promise<void>((resolve) => {
      patient.app.server.once('connection', (accepted: Socket) =>
        accepted.on('close', () => resolve()),
      );
    });
    const socket = connect(patient.port, '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write(`${line} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await once(socket, 'data');
    socket.resetAndDestroy();
    await closed;
  }
  const response = await fetch(`http://127.0.0.1:${patient.port}/small`);
  assert.equal(await response.text(), 'small');
});
