import { BlockList, isIP, SocketAddress } from 'node:net';
import type { FastifyRequest } from 'fastify';

/**
 * The only code that determines addresses. Every limit, record and check uses these functions: another form of the same
 * address would be another caller.
 */

/**
 * The caller's address in canonical form: from a trusted proxy, else from the connection. A proxy header that contains no
 * address counts as absent, because callers can set it. Null if the caller has disconnected.
 */
export function callerAddress(request: Pick<FastifyRequest, 'ip' | 'socket'>): string | null {
  return parseAddress(request.ip) ?? peerAddress(request);
}

/** The address of the connection in canonical form, whatever its headers say. Null if the peer has disconnected. */
export function peerAddress({ socket }: Pick<FastifyRequest, 'socket'>): string | null {
  return parseAddress(socket.remoteAddress);
}

/**
 * Whether an address is in one of the ranges. Fastify calls it for each hop of `X-Forwarded-For` from the last to the
 * first, and `request.ip` is the first hop that it rejects.
 * @param ranges IP addresses and CIDR ranges
 */
export function rangeMatcher(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    list.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family);
  }
  return (text) => {
    const address = parseAddress(text);
    return address !== null && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  };
}

/** Some proxies append the port and put IPv6 addresses in brackets. */
const addressWithPort = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/;

function parseAddress(text: string | undefined): string | null {
  if (!text) return null;
  const [, bracketed, dotted] = addressWithPort.exec(text) ?? [];
  const address = bracketed ?? dotted ?? text;
  if (isIP(address) !== 6) return isIP(address) === 4 ? address : null;
  // Drops the zone, which names a local interface.
  const canonical = new SocketAddress({ address, family: 'ipv6' }).address;
  return embeddedIPv4(canonical) ?? canonical;
}

/**
 * IPv4 callers arrive mapped if HOST is `::`, and under the prefix of RFC 6052 behind a translator. All of them would
 * otherwise share one /64.
 */
function embeddedIPv4(address: string): string | null {
  const [, dotted] = /^::ffff:(\d+(?:\.\d+){3})$/.exec(address) ?? [];
  if (dotted !== undefined) return dotted;
  const groups = /^64:ff9b::(?:([\da-f]{1,4}):)?([\da-f]{1,4})$/.exec(address);
  if (!groups) return null;
  const [high, low] = [groups[1] ?? '0', groups[2] ?? '0'].map((group) =>
    Number.parseInt(group, 16),
  );
  return [high, low].flatMap((pair = 0) => [pair >> 8, pair & 255]).join('.');
}
