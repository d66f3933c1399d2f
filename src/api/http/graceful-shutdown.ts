import type { Server as HttpServer } from 'node:http';
import { Server, type Socket } from 'node:net';
import { setImmediate as immediate } from 'node:timers/promises';

/**
 * How a server leaves so that no caller loses a request. A keep-alive connection that looks idle from here may have a
 * request on its way: whoever closes it answers that request with a reset, and the caller cannot know whether it was
 * carried out. So no connection is closed that its client may still use: first the port closes, so that nobody connects
 * any more; from then on every answer says `connection: close`; and what is left is closed only once its client must have
 * given it up by itself.
 */
export interface GracefulShutdown {
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
/**
 * A turn of the event loop in which hardly anybody can have come to stand in line. A machine under load may have no such
 * turn for long: with each of these times that passes, one of twice the length will do.
 */
const briefMs = 1;
const restlessMs = 250;

export function createGracefulShutdown(): GracefulShutdown {
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
      const late = withinMs > 0 ? await emptyLine(server, Math.min(withinMs, lineMs)) : [];
      // Of `net` and not of `http`, which would close what is idle.
      const gone = new Promise((resolve) => Server.prototype.close.call(server, resolve));
      begun = true;
      for (const socket of late) socket.resume();
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
 * Connections that the kernel has made and nobody has taken in yet would be reset when the port closes. Each turn of the
 * event loop takes in one of those that stand in line: a brief turn that takes in none leaves none behind. What is taken in
 * meanwhile is heard only afterwards: whoever was answered would stand in line again, and the line would never end.
 */
async function emptyLine(server: Server, withinMs: number): Promise<Socket[]> {
  const late: Socket[] = [];
  const hold = (socket: Socket) => void late.push(socket);
  server.on('connection', hold);
  const begunMs = performance.now();
  // From here on each wait is a whole turn.
  await immediate();
  for (let held = 0; ; held = late.length) {
    const turnMs = performance.now();
    await immediate();
    // Not as they come in: Node would begin to read all the same.
    for (const socket of late.slice(held)) socket.pause();
    const nowMs = performance.now();
    const brief = nowMs - turnMs < briefMs * 2 ** ((nowMs - begunMs) / restlessMs);
    if ((late.length === held && brief) || nowMs - begunMs > withinMs) break;
  }
  server.off('connection', hold);
  return late;
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, ms)).unref();
  });
}
