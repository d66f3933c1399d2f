import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createGracefulShutdown } from '../../../src/api/http/graceful-shutdown.ts';

/** Who connects anew for each call stands in line anew with each answer, so that such a line does not end by itself. */
const clients = 24;
const workMs = 3;

test('who connects while a server leaves is answered or refused, however many stand in line', async () => {
  const departure = createGracefulShutdown();
  const answered = Promise.withResolvers<void>();
  let answers = 0;
  const server = createServer((_call, response) => {
    const endMs = performance.now() + workMs;
    while (performance.now() < endMs);
    if (departure.begun) response.setHeader('connection', 'close');
    response.end();
    departure.touched();
    if (++answers === clients * 2) answered.resolve();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const ends = Promise.all(
    Array.from({ length: clients }, async () => {
      for (;;) {
        const end = await call(port);
        if (end !== 200) return end;
      }
    }),
  );
  await answered.promise;
  await departure.depart(server, 60_000);
  assert.deepEqual(new Set(await ends), new Set(['ECONNREFUSED']));
});

/** The status, or the code of the error. */
function call(port: number): Promise<number | string | undefined> {
  return new Promise((resolve) => {
    request({ port, host: '127.0.0.1', agent: false })
      .on('error', ({ code }: NodeJS.ErrnoException) => resolve(code))
      .on('response', (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      })
      .end();
  });
}
