import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type pg from 'pg';

/**
 * Stands between Cueline and PostgreSQL, as a network does, and fails as one does: it breaks connections off, or carries
 * nothing any more without anybody being told. It reads enough of the protocol to know what passes.
 */
export interface DatabaseProxy {
  /** The database, through here. */
  readonly connection: pg.ClientConfig;
  /** Connections that are there now. */
  readonly open: number;
  /** Whether one of them has asked for hints. */
  readonly listening: boolean;
  /** Carries nothing from now on, on any connection, new ones included: packets vanish, and nobody is told. */
  silence(): void;
  /** Carries nothing any more on those connections that are there and chosen: others never know. */
  mute(choose: (link: Link) => boolean): void;
  /** Breaks off all connections from now on, new ones included. */
  refuse(): void;
  /** New connections get through again; those that were silenced stay dead. */
  heal(): void;
  /** Breaks off all connections, or those that the choice falls on. */
  cut(choose?: (link: Link) => boolean): void;
  /** Asked of everything that Cueline sends: whether the connection breaks off, and on which side of it. */
  onSent: ((link: Link, text: string) => 'before' | 'after' | null) | null;
  close(): Promise<void>;
}

export interface Link {
  /** Whether this connection has ever asked for hints. */
  readonly listens: boolean;
}

interface Carried extends Link {
  listens: boolean;
  silent: boolean;
  readonly client: Socket;
  readonly server: Socket;
}

/** On TCP over loopback, wherever the database itself listens. */
export async function startProxy(target: pg.ClientConfig): Promise<DatabaseProxy> {
  const links = new Set<Carried>();
  let silent = false;
  let refusing = false;

  const listener = createServer({ noDelay: true }, (client) => {
    if (refusing) return void client.on('error', () => {}).resetAndDestroy();
    const server = connectTo(target);
    const link: Carried = { client, server, silent, listens: false };
    links.add(link);
    const end = () => {
      links.delete(link);
      breakOff(link);
    };
    for (const socket of [client, server]) {
      socket.on('error', end);
      // Of a connection that vanished nobody hears the end either.
      socket.on('close', () => link.silent || end());
    }
    client.on('data', (bytes: Buffer) => carry(link, bytes));
    server.on('data', (bytes) => link.silent || client.write(bytes));
  });

  function carry(link: Carried, bytes: Buffer): void {
    if (link.silent) return;
    const text = bytes.toString('latin1');
    if (/listen cueline_/.test(text)) link.listens = true;
    const broken = proxy.onSent?.(link, text) ?? null;
    if (broken === 'before') {
      breakOff(link);
      return;
    }
    link.server.write(bytes);
    if (broken === 'after') {
      // The server gets it all and is let do it; its answer finds nobody.
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
    get open() {
      return links.size;
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
    refuse() {
      refusing = true;
      // A silent one has nobody at this end any more, and the server is let do what it was sent.
      for (const link of links) if (!link.silent) breakOff(link);
    },
    heal() {
      silent = false;
      refusing = false;
    },
    cut(choose = () => true) {
      for (const link of [...links].filter(choose)) breakOff(link);
    },
    async close() {
      listener.close();
      for (const link of links) breakOff(link);
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

function breakOff({ client, server }: Carried): void {
  // Node never ends a process that has reset a socket whose end was on its way.
  if (client.writableEnded) client.destroy();
  else client.resetAndDestroy();
  server.destroy();
}
