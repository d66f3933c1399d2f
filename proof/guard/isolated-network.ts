import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { startNameServer } from './name-server.ts';

/**
 * A network namespace that routes every address to this machine. The kernel counts all connection attempts, and listeners
 * accept those to common ports.
 */
export interface IsolatedNetwork {
  /** The kernel's count of connection attempts to any address and port. */
  connections(): number;
  /** `address port` of each connection since the last call. */
  arrived(): string[];
  close(): void;
}

/** Shell commands that route all of IPv4 and IPv6 to this machine. */
export const networkSetup = (ownAddress: string, resolverFile: string) =>
  [
    'ip link set lo up',
    `ip address add ${ownAddress}/32 dev lo`,
    'ip route add local 0.0.0.0/0 dev lo',
    'ip -6 route add local ::/0 dev lo',
    `mount --bind ${resolverFile} /etc/resolv.conf`,
  ].join(' && ');

const ports = [80, 443, 8443, 9000, 9001, 6379, 5432, 22, 3128];

export async function startNetwork(
  answer: (name: string, time: number) => readonly string[],
): Promise<IsolatedNetwork> {
  const nameServer = await startNameServer(answer);
  let arrived: string[] = [];
  const servers = ports.map((port) =>
    createServer((socket) => {
      arrived.push(`${socket.localAddress?.replace(/^::ffff:(?=\d+\.)/, '')} ${port}`);
      socket.on('error', () => {});
      socket.once('data', (sent: Buffer) => respond(socket, sent));
    }).listen(port, '::'),
  );
  await Promise.all(servers.map((server) => once(server, 'listening')));
  return {
    connections: countConnections,
    arrived() {
      const seen = arrived;
      arrived = [];
      return seen;
    },
    close() {
      nameServer.close();
      for (const server of servers) server.close();
    },
  };
}

/** Redirects a call whose path names a target. Any other call gets a useless response. */
function respond(socket: Socket, sent: Buffer): void {
  const [, status, location] = /\/to\/(\d{3})\/([\w-]+)\//.exec(sent.toString('latin1')) ?? [];
  const to = Buffer.from(location ?? '', 'base64url').toString();
  const head = status
    ? `HTTP/1.1 ${status} See there\r\nLocation: ${to}`
    : 'HTTP/1.1 418 I am a teapot';
  // TLS clients get no response.
  if (sent[0] === 0x16) socket.destroy();
  else socket.end(`${head}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
}

function countConnections(): number {
  const tcp = readFileSync('/proc/net/snmp', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('Tcp:'))
    .map((line) => line.split(' '));
  const [names = [], values = []] = tcp;
  return Number(values[names.indexOf('ActiveOpens')]);
}
