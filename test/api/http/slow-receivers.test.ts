import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import { readBody } from '../../../src/api/http/body.ts';
import { closeWithin, createGracefulShutdown } from '../../../src/api/http/graceful-shutdown.ts';
import { type ServerLimits, serverLimits } from '../../../src/api/http/slow-receivers.ts';
import { createServer } from '../../../src/api/server.ts';

const large = 'x'.repeat(1_000_000);
/** More than the system takes for a client that does not. */
const huge = Buffer.alloc(16 * 1024 * 1024);

/** The server with limits that run out soon. */
const limits: ServerLimits = {
  ...{ headersMs: 400, requestMs: 800, checkMs: 100, takingMs: 400, takenBytesMin: 65_536 },
  ...{ connectionsMax: 80, heldBytesMax: serverLimits.heldBytesMax },
};
let counted = 0;
/** Of who asked for `/gone`, once they are. */
const addressOfGone = Promise.withResolvers<string | undefined>();
const { app, port } = await start(limits);
after(() => app.close());

async function start(slow: ServerLimits) {
  const app = createServer({
    ...{
      logger: pino({ level: 'silent' }),
      trustedProxies: [],
      departure: createGracefulShutdown(),
    },
    slow,
  });
  app.get('/small', async () => 'small');
  app.get('/large', async () => large);
  app.get('/huge', async () => huge);
  app.get('/wait', async () => {
    await wait(1_500);
    return 'waited';
  });
  app.post('/count', async () => ++counted);
  app.get('/gone', async (request) => {
    await new Promise((resolve) => request.raw.socket.once('close', resolve));
    addressOfGone.resolve(request.ip);
  });
  app.post('/body', async (request) => (await readBody(request)).kind);
  await app.listen({ host: '127.0.0.1', port: 0 });
  return { app, port: (app.server.address() as AddressInfo).port };
}

const get = 'GET /large HTTP/1.1\r\nhost: x\r\n\r\n';

/** Resolves with what came back once the server has closed the connection. */
async function closedWhile(begin: (socket: Socket) => void, drip?: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let seen = '';
  socket.setEncoding('utf8').on('data', (text) => {
    seen += text;
  });
  socket.on('error', () => {});
  await once(socket, 'connect');
  begin(socket);
  const timer = drip === undefined ? undefined : setInterval(() => socket.write(drip), 50);
  await once(socket, 'close');
  clearInterval(timer);
  return seen;
}

const connections = () =>
  new Promise<number>((resolve) => app.server.getConnections((_, count) => resolve(count)));

async function noneLeft(): Promise<void> {
  while ((await connections()) > 0) await wait(20);
}

test('who connects and says nothing is sent away', async () => {
  assert.match(await closedWhile(() => {}), /^HTTP\/1.1 408 /);
  await noneLeft();
});

test('whose headers drip is sent away', async () => {
  const seen = await closedWhile((socket) => socket.write('GET /large HTTP/1.1\r\nx: '), 'y');
  assert.match(seen, /^HTTP\/1.1 408 .*The request did not arrive in time/s);
  await noneLeft();
});

test('whose body drips is sent away', async () => {
  const head = 'POST /body HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';
  for (const length of ['content-length: 1000000', 'transfer-encoding: chunked']) {
    const drip = length.includes('chunked') ? '1\r\n1\r\n' : '1';
    const seen = await closedWhile((socket) => socket.write(`${head}${length}\r\n\r\n`), drip);
    assert.match(seen, /^HTTP\/1.1 408 /);
  }
  await noneLeft();
});

test('who goes on sending after that is not waited for', async () => {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => {}).resume();
  await once(socket, 'connect');
  socket.write('GET /large HTTP/1.1\r\nx: ');
  await once(socket, 'end');
  const timer = setInterval(() => socket.write('y'), 20);
  await noneLeft();
  clearInterval(timer);
  socket.destroy();
});

test('who takes nothing of what it asked for is cut off', async () => {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.pause();
  await once(socket, 'connect');
  socket.write(get.repeat(40));
  while ((await connections()) === 0) await wait(5);
  await noneLeft();
  socket.destroy();
});

test('a flood of requests on one connection ends it', async () => {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {}).resume();
  socket.write(get.repeat(200));
  await once(socket, 'close');
  await noneLeft();
});

test('answers that nobody takes keep nobody else out', async () => {
  const patient = await start({
    ...limits,
    headersMs: 60_000,
    requestMs: 60_000,
    takingMs: 60_000,
  });
  let requests = 0;
  patient.app.server.on('request', () => requests++);
  const sockets = Array.from({ length: 60 }, () => connect(patient.port, '127.0.0.1'));
  for (const socket of sockets) socket.on('error', () => {}).pause();
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  // Together more than may be worked on at once.
  const small = get.replace('large', 'small').repeat(94);
  for (const socket of sockets) socket.write(get.replace('large', 'huge') + small);
  while (requests < 60 * 95) await wait(20);
  assert.equal((await fetch(`http://127.0.0.1:${patient.port}/small`)).status, 200);
  for (const socket of sockets) socket.destroy();
  await patient.app.close();
});

test('who takes it steadily gets all, and who waits for an answer waits', async () => {
  const url = `http://127.0.0.1:${port}`;
  const waiting = fetch(`${url}/wait`).then((answer) => answer.text());
  let taken = 0;
  const response = await fetch(`${url}/large`);
  for await (const chunk of response.body ?? []) {
    taken += chunk.length;
    await wait(50);
  }
  assert.equal(taken, large.length);
  assert.equal(await waiting, 'waited');
});

test('there is an end to connections', async () => {
  const sockets = Array.from({ length: 90 }, () => connect(port, '127.0.0.1'));
  const closed = sockets.map((socket) =>
    once(
      socket.on('error', () => {}),
      'close',
    ),
  );
  await Promise.race(closed);
  assert.ok((await connections()) <= 80);
  for (const socket of sockets) socket.destroy();
  await Promise.all(closed);
});

test('who takes a long answer slowly, yet steadily, gets all of it', async () => {
  // Of what the kernel takes at once many times as much, and longer altogether than nothing may be taken.
  const patient = await start({ ...limits, takingMs: 3_000 });
  const socket = connect(patient.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('GET /huge HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  let taken = 0;
  socket.on('data', (bytes) => {
    taken += bytes.length;
    socket.pause();
    setTimeout(() => socket.resume(), 20);
  });
  await once(socket, 'close');
  assert.ok(taken > huge.length);
  await patient.app.close();
});

test('whoever has reset the connection is known by the address all the same', async () => {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('GET /gone HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(app.server, 'request');
  socket.resetAndDestroy();
  assert.equal(await addressOfGone.promise, '127.0.0.1');
});

test('a request of which the rest never comes does not hold the end up', async () => {
  const ending = await start({ ...limits, headersMs: 60_000, requestMs: 60_000 });
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

test('an answer is taken whole though a later one, to what is not read, closes the connection', async () => {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.pause();
  const unread = 'x'.repeat(200_000);
  socket.write(`${get}POST /none HTTP/1.1\r\nhost: x\r\ncontent-length: 200000\r\n\r\n`);
  socket.write(unread);
  // Time in which the server may close it too early.
  await wait(300);
  let seen = '';
  socket.setEncoding('utf8').on('data', (text) => {
    seen += text;
  });
  socket.resume();
  await once(socket, 'close');
  assert.ok(seen.includes(large));
  assert.match(seen, /HTTP\/1\.1 404 /);
});

test('what comes after the answer that closes the connection is not carried out', async () => {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.setEncoding('utf8');
  await once(socket, 'connect');
  socket.write('POST /none HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nab');
  const [answer] = await once(socket, 'data');
  assert.match(answer, /^HTTP\/1\.1 404 .*\r\nconnection: close\r\n/s);
  const before = counted;
  socket.write('cdPOST /count HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(socket, 'close');
  assert.equal(counted, before);
});

test('who resets a connection while it lingers ends nothing but that', async () => {
  for (const line of ['CONNECT x:1', 'GET  /']) {
    // Not by `once`, which would listen to errors as well.
    const gone = new Promise<void>((resolve) => {
      app.server.once('connection', (theirs: Socket) => theirs.on('close', () => resolve()));
    });
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write(`${line} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await once(socket, 'data');
    socket.resetAndDestroy();
    await gone;
  }
  const response = await fetch(`http://127.0.0.1:${port}/small`);
  assert.equal(await response.text(), 'small');
});
