import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type pg from 'pg';

/**
 * A proxy between Cueline and PostgreSQL that fails like a network: it breaks connections, or drops all packets
 * silently. It parses enough of the protocol to recognize the messages.
 */
export interface DatabaseProxy {
  /** The database, through the proxy. */
  readonly connection: pg.ClientConfig;
  /** Whether one of them has sent `LISTEN`. */
  readonly listening: boolean;
  /** Drops all packets of all connections silently, including new ones. */
  silence(): void;
  /** Drops all packets of the chosen open connections silently. */
  mute(choose: (link: Link) => boolean): void;
  /** Keeps what Cueline sends, from the message that is passed to `onSent` now, until `release`. */
  hold(): void;
  release(): void;
  /** Breaks all connections from now on, also new ones. */
  refuse(): void;
  /** Accepts new connections again; silenced ones stay dead. */
  heal(): void;
  /** Breaks all connections, or the chosen ones. */
  cut(choose?: (link: Link) => boolean): void;
  /**
   * Called for everything that Cueline sends: whether to break the connection, and on which side of the message, or after
   * how many of its bytes.
   */
  onSent: ((link: Link, text: string) => 'before' | 'after' | number | null) | null;
  close(): Promise<void>;
}

export interface Link {
  /** Whether this connection has ever sent `LISTEN`. */
  readonly listens: boolean;
}

interface Connection extends Link {
  listens: boolean;
  silent: boolean;
  readonly client: Socket;
  readonly server: Socket;
}

/** Listens on loopback TCP, wherever the database listens. */
export async function startProxy(target: pg.ClientConfig): Promise<DatabaseProxy> {
  const links = new Set<Connection>();
  let silent = false;
  let refusing = false;
  let held: (() => void)[] | null = null;

  const listener = createServer({ noDelay: true }, (client) => {
    if (refusing) return void client.on('error', () => {}).resetAndDestroy();
    const server = connectTo(target);
    const link: Connection = { client, server, silent, listens: false };
    links.add(link);
    const end = () => {
      links.delete(link);
      reset(link);
    };
    for (const socket of [client, server]) {
      socket.on('error', end);
      // The close of a silenced connection is not forwarded either.
      socket.on('close', () => link.silent || end());
    }
    client.on('data', (bytes: Buffer) => forward(link, bytes));
    server.on('data', (bytes) => link.silent || client.write(bytes));
  });

  function forward(link: Connection, bytes: Buffer): void {
    if (link.silent) return;
    const text = bytes.toString('latin1');
    if (/listen cueline_/.test(text)) link.listens = true;
    const broken = proxy.onSent?.(link, text) ?? null;
    if (broken === 'before') {
      reset(link);
      return;
    }
    if (held !== null) {
      held.push(() => link.server.write(bytes));
      return;
    }
    link.server.write(typeof broken === 'number' ? bytes.subarray(0, broken) : bytes);
    if (broken !== null) {
      // The server executes what it receives; the response is lost.
      link.silent = true;
      link.client.resetAndDestroy();
      link.server.end();
    }
  }

  const proxy: DatabaseProxy = {
    get connection() {
      const { port } = listener.address() as AddressInfo;
      return { ...target, host: '127.0.0.1', port };
    },
    get listening() {
      return [...links].some(({ listens, client }) => listens && !client.destroyed);
    },
    onSent: null,
    silence() {
      silent = true;
      for (const link of links) link.silent = true;
    },
    mute(choose) {
      for (const link of [...links].filter(choose)) link.silent = true;
    },
    hold() {
      held ??= [];
    },
    release() {
      const kept = held ?? [];
      held = null;
      for (const send of kept) send();
    },
    refuse() {
      refusing = true;
      // A silenced connection has no client any more, but the server may finish what it received.
      for (const link of links) if (!link.silent) reset(link);
    },
    heal() {
      silent = false;
      refusing = false;
    },
    cut(choose = () => true) {
      for (const link of [...links].filter(choose)) reset(link);
    },
    async close() {
      listener.close();
      for (const link of links) reset(link);
      await once(listener, 'close');
    },
  };
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return proxy;
}

function connectTo({ host = '', port = 5432 }: pg.ClientConfig): Socket {
  return host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
}

function reset({ client, server }: Connection): void {
  // Node does not exit if a socket is reset while its FIN is on the way.
  if (client.writableEnded) client.destroy();
  else client.resetAndDestroy();
  server.destroy();
}

/** The position after each `Execute` message. A message is its type, a length of four bytes, and its contents. */
export function statementEnds(text: string): number[] {
  const bytes = Buffer.from(text, 'latin1');
  const ends: number[] = [];
  for (let at = 0; at + 5 <= bytes.length; ) {
    const type = String.fromCharCode(bytes[at] ?? 0);
    at += 1 + bytes.readInt32BE(at + 1);
    if (type === 'E') ends.push(at);
  }
  return ends;
}
