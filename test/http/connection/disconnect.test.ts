import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { pino } from 'pino';
import { GracefulShutdown } from '../../../src/http/connection/graceful-shutdown.ts';
import { createServer } from '../../../src/http/server.ts';

test('a client that disconnects before its export starts is not logged as a failure', async () => {
  const logged: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
  const app = createServer({ logger, trustedProxies: [], shutdown: new GracefulShutdown() });
  const aborted = Promise.withResolvers<void>();
  app.get('/export', async (request) => {
    // As `discardBody` does.
    await once(request.raw.resume(), 'end');
    const closed = once(request.raw.socket, 'close');
    request.raw.socket.destroy();
    await closed;
    const stream = new Readable({ read: () => {} });
    stream.once('close', () => setImmediate(aborted.resolve));
    return stream;
  });
  app.get('/failing', async () => {
    throw new Error('unexpected');
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  connect(port, '127.0.0.1')
    .on('error', () => {})
    .write('GET /export HTTP/1.1\r\nhost: x\r\n\r\n');
  await aborted.promise;
  const failures = () => logged.filter((line) => line.includes('"request failed"'));
  assert.deepEqual(failures(), []);
  assert.equal((await fetch(`http://127.0.0.1:${port}/failing`)).status, 500);
  assert.equal(failures().length, 1);
  await app.close();
});
