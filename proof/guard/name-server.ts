import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';

/**
 * A name server on port 53 of this machine. Each lookup of a name (an A and an AAAA query) returns the next entry of its
 * list; the last entry repeats.
 */
export async function startNameServer(answer: (name: string, time: number) => readonly string[]) {
  const lookups = new Map<string, number>();
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, type, end } = question(query);
    const key = `${type} ${name}`;
    const time = lookups.get(key) ?? 0;
    lookups.set(key, time + 1);
    const addresses = answer(name, time).filter((one) => type === (isIPv4(one) ? A : AAAA));
    const records = addresses.map((address) => {
      const data = isIPv4(address) ? bytesOf4(address) : bytesOf6(address);
      // A pointer to the name in the question, and a TTL of 0 against caching.
      return Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length, ...data]);
    });
    const head = Buffer.from([0x81, 0x80, 0, 1, 0, records.length, 0, 0, 0, 0]);
    const parts = [query.subarray(0, 2), head, query.subarray(12, end), ...records];
    socket.send(Buffer.concat(parts), from.port, from.address);
  });
  socket.bind(53, '127.0.0.53');
  await once(socket, 'listening');
  return { close: () => socket.close() };
}

const A = 1;
const AAAA = 28;

function question(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function bytesOf4(address: string): number[] {
  return address.split('.').map(Number);
}

function bytesOf6(address: string): number[] {
  const { hostname } = new URL(`http://[${address}]/`);
  const [head = '', tail] = hostname.slice(1, -1).split('::');
  const groups = (text: string) => text.split(':').filter(Boolean);
  const [first, last] = [groups(head), groups(tail ?? '')];
  const zeros = Array<string>(tail === undefined ? 0 : 8 - first.length - last.length).fill('0');
  return [...first, ...zeros, ...last].flatMap((group) => {
    const number = Number.parseInt(group, 16);
    return [number >> 8, number & 255];
  });
}
