import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { type AddressInfo, connect, isIPv6, Server } from 'node:net';

/**
 * How a server leaves so that no caller loses a request. A keep-alive connection that looks idle from here may have a
 * request on its way: whoever closes it answers that request with a reset, and the caller cannot know whether it was
 * carried out. So no connection is closed that its client may still use: first the port closes, so that nobody connects
 * any more; from then on every answer says `connection: close`; and what is left is closed only once its client must have
 * given it up by itself.
 */
export interface Departure {
  /** Whether answers are to say `connection: close`. */
  readonly begun: boolean;
  /** A connection was made or an answer given. */
  touched(): void;
  /** Resolves when no connection is left that may still be used, or after that time. */
  depart(server: Server, withinMs: number): Promise<void>;
}

/** What every answer promises: a client that keeps its promise does not use a connection that was idle for so long. */
export const idleMs = 5_000;
/**
 * How much longer a connection is kept all the same. Balancers do not read the promise, and they must be the ones who
 * close: most keep an idle connection for 60 seconds.
 */
export const idleMsMore = 67_000;
/** For the way of a request that was sent at the last moment. */
const wayMs = 1_000;
/** For a connection to be taken in: on a machine under load others stand in line before it for seconds. */
const lineMs = 10_000;

export function createDeparture(): Departure {
  let begun = false;
  let touchedAt = Number.NEGATIVE_INFINITY;
  return {
    get begun() {
      return begun;
    },
    touched() {
      touchedAt = performance.now();
    },
    async depart(server, withinMs) {
      if (!server.listening) return;
      const untilMs = performance.now() + withinMs;
      if (withinMs > 0) await lastInLine(server, Math.min(withinMs, lineMs));
      // Of `net` and not of `http`, which would close what is idle.
      const gone = new Promise((resolve) => Server.prototype.close.call(server, resolve));
      begun = true;
      const unusableMs = touchedAt + idleMs + wayMs;
      await Promise.race([gone, after(Math.min(untilMs, unusableMs) - performance.now())]);
    },
  };
}

/** Closes the server; after that time also under requests of which the rest never came. */
export async function closeWithin(
  app: { readonly server: HttpServer; close(): Promise<unknown> },
  ms: number,
): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), ms);
  await app.close();
  clearTimeout(timer);
}

/**
 * Connections that the kernel has made and nobody has taken in yet would be reset when the port closes. They stand in
 * line: when a connection of our own is taken in, all before it have been.
 */
async function lastInLine(server: Server, withinMs: number): Promise<void> {
  const { address, port } = server.address() as AddressInfo;
  const everywhere = ['0.0.0.0', '::'].includes(address);
  const host = everywhere ? (isIPv6(address) ? '::1' : '127.0.0.1') : address;
  const own = connect({ host, port });
  const failed = once(own, 'close').catch(() => {});
  const taken = new Promise<void>((resolve) => {
    server.on('connection', function look(socket) {
      if (socket.remotePort !== own.localPort) return;
      server.off('connection', look);
      resolve();
    });
  });
  await Promise.race([taken, failed, after(withinMs)]);
  own.destroy();
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, ms)).unref();
  });
}
