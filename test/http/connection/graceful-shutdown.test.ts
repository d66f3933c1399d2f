import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { GracefulShutdown } from '../../../src/http/connection/graceful-shutdown.ts';

/** Clients that open a connection for each request, so that the accept queue does not become empty by itself. */
const clients = 24;
const workMs = 3;

test('a client that connects during shutdown gets a response or a refused connection', async () => {
  const shutdown = new GracefulShutdown();
  const responded = Promise.withResolvers<void>();
  let responses = 0;
  const server = createServer((_request, response) => {
    const endMs = performance.now() + workMs;
    while (performance.now() < endMs);
    if (shutdown.started) response.setHeader('connection', 'close');
    response.end();
    shutdown.recordActivity();
    if (++responses === clients * 2) responded.resolve();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const results = Promise.all(
    Array.from({ length: clients }, async () => {
      for (;;) {
        const result = await get(port);
        if (result !== 200) return result;
      }
    }),
  );
  await responded.promise;
  await shutdown.shutDown(server, 60_000);
  assert.deepEqual(new Set(await results), new Set(['ECONNREFUSED']));
});

/** The status or the error code. */
function get(port: number): Promise<number | string | undefined> {
  return new Promise((resolve) => {
    request({ port, host: '127.0.0.1', agent: false })
      .on('error', ({ code }: NodeJS.ErrnoException) => resolve(code))
      .on('response', (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      })
      .end();
  });
}
