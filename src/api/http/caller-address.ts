import { isIP, SocketAddress } from 'node:net';
import type { FastifyRequest } from 'fastify';

/**
 * The caller's address in canonical form: from a trusted proxy, else from the connection. A proxy header that contains no
 * address counts as absent, because callers can set it. Null if the caller has disconnected.
 */
export function callerAddress({
  ip,
  socket,
}: Pick<FastifyRequest, 'ip' | 'socket'>): string | null {
  return parseAddress(ip) ?? parseAddress(socket.remoteAddress);
}

/** Some proxies append the port and put IPv6 addresses in brackets. */
const addressWithPort = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/;

function parseAddress(text: string | undefined): string | null {
  if (!text) return null;
  const [, bracketed, dotted] = addressWithPort.exec(text) ?? [];
  const address = bracketed ?? dotted ?? text;
  if (isIP(address) !== 6) return isIP(address) === 4 ? address : null;
  // Drops the zone, which names a local interface, and unmaps IPv4, which arrives mapped if HOST is `::`.
  return new SocketAddress({ address, family: 'ipv6' }).address.replace(/^::ffff:(?=\d+\.)/, '');
}
