import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** The kinds of slow clients. */
const kinds = {
  /** Connects and sends nothing. */
  silent: { first: '', drip: '' },
  headers: { first: 'GET /healthz HTTP/1.1\r\nx: ', drip: 'y' },
  body: {
    first:
      'POST {path} HTTP/1.1\r\nhost: x\r\n{auth}content-length: 100000\r\n\r\n{"variables": {"name": "',
    drip: 'z',
  },
  /** Requests a large response and reads none of it. */
  receiver: { first: 'GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(20), drip: '' },
};
type Kind = keyof typeof kinds;

export interface SlowConnections {
  /** The number of open connections. */
  open(): number;
  /**
   * The number that the server closed, by kind. Receivers start reading now, because a client that does not read cannot
   * detect the close.
   */
  closed(): Promise<Record<Kind, number>>;
  close(): void;
}

/** Resolves when all are connected and have sent their first bytes. The kinds alternate. */
export async function openSlowConnections(
  { url, path, key }: { readonly url: string; readonly path: string; readonly key: string },
  size: number,
): Promise<SlowConnections> {
  const { hostname, port } = new URL(url);
  const names = Object.keys(kinds) as Kind[];
  const auth = `authorization: Bearer ${key}\r\ncontent-type: application/json\r\n`;
  const closed: Record<Kind, number> = { silent: 0, headers: 0, body: 0, receiver: 0 };
  const dripping: { socket: Socket; drip: string }[] = [];
  const sockets = await Promise.all(
    Array.from({ length: size }, async (_, i) => {
      const kind = names[i % names.length] ?? 'silent';
      const { first, drip } = kinds[kind];
      const socket = connect(Number(port), hostname);
      const connected = Promise.withResolvers<void>();
      socket.once('connect', connected.resolve);
      socket.on('error', () => {});
      socket.once('close', () => {
        closed[kind]++;
        connected.resolve();
      });
      if (kind === 'receiver') socket.pause();
      else socket.resume();
      await connected.promise;
      socket.write(first.replace('{path}', path).replace('{auth}', auth));
      if (drip !== '') dripping.push({ socket, drip });
      return socket;
    }),
  );
  const timer = setInterval(() => {
    for (const { socket, drip } of dripping) if (socket.writable) socket.write(drip);
  }, dripMs);
  return {
    open: () => sockets.filter((socket) => !socket.closed).length,
    async closed() {
      for (const socket of sockets) socket.resume();
      await wait(resetMs);
      return { ...closed };
    },
    close() {
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
    },
  };
}

const dripMs = 1_000;
/** Time to read the buffered bytes and the reset after them. */
const resetMs = 3_000;
