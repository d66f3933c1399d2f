import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { pino } from 'pino';
import { createGracefulShutdown } from '../../src/api/http/graceful-shutdown.ts';
import { createServer } from '../../src/api/server.ts';

test('whoever leaves before an export has begun is no fault of the server', async () => {
  const logged: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
  const app = createServer({ logger, trustedProxies: [], departure: createGracefulShutdown() });
  const broken = Promise.withResolvers<void>();
  app.get('/export', async (request) => {
    // As routes do that take no body.
    await once(request.raw.resume(), 'end');
    const gone = once(request.raw.socket, 'close');
    request.raw.socket.destroy();
    await gone;
    const stream = new Readable({ read: () => {} });
    stream.once('close', () => setImmediate(broken.resolve));
    return stream;
  });
  app.get('/fault', async () => {
    throw new Error('a fault');
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  connect(port, '127.0.0.1')
    .on('error', () => {})
    .write('GET /export HTTP/1.1\r\nhost: x\r\n\r\n');
  await broken.promise;
  const faults = () => logged.filter((line) => line.includes('"fault"'));
  assert.deepEqual(faults(), []);
  assert.equal((await fetch(`http://127.0.0.1:${port}/fault`)).status, 500);
  assert.equal(faults().length, 1);
  await app.close();
});
