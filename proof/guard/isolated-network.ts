import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { startNameServer } from './name-server.ts';

/**
 * The network on one machine: a network of our own in which every address there is leads here. Whatever connection is
 * tried to any of them is counted by the kernel, and those to the usual ports are taken.
 */
export interface IsolatedNetwork {
  /** Connections that were ever begun, to whatever address and port: what the kernel counted. */
  begun(): number;
  /** `address port` of each that arrived since it was asked. */
  arrived(): string[];
  close(): void;
}

/** Makes the network, as a shell does it before it becomes Node: all of IPv4 and IPv6 is this machine's. */
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
      socket.once('data', (sent: Buffer) => answerTo(socket, sent));
    }).listen(port, '::'),
  );
  await Promise.all(servers.map((server) => once(server, 'listening')));
  return {
    begun: connectionsBegun,
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

/** A call whose path says where it is to be sent on is; any other finds a server that gives no useful answer. */
function answerTo(socket: Socket, sent: Buffer): void {
  const [, status, location] = /\/to\/(\d{3})\/([\w-]+)\//.exec(sent.toString('latin1')) ?? [];
  const to = Buffer.from(location ?? '', 'base64url').toString();
  const head = status
    ? `HTTP/1.1 ${status} See there\r\nLocation: ${to}`
    : 'HTTP/1.1 418 I am a teapot';
  // Whoever greets in TLS gets no answer.
  if (sent[0] === 0x16) socket.destroy();
  else socket.end(`${head}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
}

function connectionsBegun(): number {
  const tcp = readFileSync('/proc/net/snmp', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('Tcp:'))
    .map((line) => line.split(' '));
  const [names = [], values = []] = tcp;
  return Number(values[names.indexOf('ActiveOpens')]);
}
