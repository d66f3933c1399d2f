import { isIP, SocketAddress } from 'node:net';
import type { FastifyRequest } from 'fastify';

/**
 * The address of who called, in one form for each: that which a trusted proxy names, else of the connection, also where
 * a proxy names none that is an address, since callers may have written it; `null` where they have left already.
 */
export function callerAddress({
  ip,
  socket,
}: Pick<FastifyRequest, 'ip' | 'socket'>): string | null {
  return addressIn(ip) ?? addressIn(socket.remoteAddress);
}

/** Some proxies put the port behind it, and IPv6 then into brackets. */
const form = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/;

function addressIn(text: string | undefined): string | null {
  if (!text) return null;
  const [, bracketed, dotted] = form.exec(text) ?? [];
  const address = bracketed ?? dotted ?? text;
  if (isIP(address) !== 6) return isIP(address) === 4 ? address : null;
  // Without the zone, which names an interface of a machine; callers over IPv4 are mapped where HOST is `::`.
  return new SocketAddress({ address, family: 'ipv6' }).address.replace(/^::ffff:(?=\d+\.)/, '');
}
