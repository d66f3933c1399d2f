import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * For servers that must know their port before they listen. Another process may take it meanwhile, so prefer port 0.
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
