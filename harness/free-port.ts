import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * For what must know its port before it listens there. Another may take it meanwhile; who can take port 0 has no such
 * trouble.
 */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address && typeof address === 'object');
  server.close();
  await once(server, 'close');
  return address.port;
}
