import type { Server as HttpServer } from 'node:http';
import { Server, type Socket } from 'node:net';
import { setImmediate as nextLoop } from 'node:timers/promises';

/**
 * Shuts an HTTP server down without losing a request.
 *
 * Problem: a keep-alive connection that looks idle may have a request on its way. If the server closes it, the client sees
 * a reset and cannot know whether the request was executed.
 *
 * States:
 * 1. running: responses keep connections alive.
 * 2. draining the accept queue: connections that the kernel has established are accepted and paused.
 * 3. closing: the port is closed, paused connections resume, each response says `connection: close`.
 * 4. closed: no connection is open, or every client has passed the idle time that responses announce.
 *
 * Invariant: the server closes only connections that their client must have given up.
 *
 * Failure cases: a client that never finishes its request is cut off by `closeWithin`. Under constant load the accept
 * queue may not become empty; the drain then stops after `acceptQueueMs`, and the rest is reset.
 */
export class GracefulShutdown {
  #started = false;
  #lastActivityMs = Number.NEGATIVE_INFINITY;

  /** Whether responses must say `connection: close`. */
  get started(): boolean {
    return this.#started;
  }

  /** Records that a connection was opened or a response was sent. */
  recordActivity(): void {
    this.#lastActivityMs = performance.now();
  }

  /** Resolves when no usable connection is left, or after `withinMs`. */
  async shutDown(server: Server, withinMs: number): Promise<void> {
    if (!server.listening) return;
    const deadlineMs = performance.now() + withinMs;
    const paused =
      withinMs > 0 ? await drainAcceptQueue(server, Math.min(withinMs, acceptQueueMs)) : [];
    // `net.Server.close`, because `http.Server.close` also closes idle connections.
    const closed = new Promise((resolve) => Server.prototype.close.call(server, resolve));
    this.#started = true;
    for (const socket of paused) socket.resume();
    const unusableMs = this.#lastActivityMs + idleMs + transitMs;
    await Promise.race([closed, sleep(Math.min(deadlineMs, unusableMs) - performance.now())]);
  }
}

/** Announced in each response: a client does not reuse a connection that was idle for this long. */
export const idleMs = 5_000;
/**
 * Added to `idleMs` before the server closes an idle connection. Load balancers ignore the announcement and keep idle
 * connections for 60 s in most cases; they must be the side that closes.
 */
export const idleBufferMs = 67_000;
/** Network time of a request that was sent at the last moment. */
const transitMs = 1_000;
/** Longest drain of the accept queue. On a loaded machine connections wait in it for seconds. */
const acceptQueueMs = 10_000;
/**
 * The accept queue counts as empty after one short iteration of the event loop that accepts nothing. A loaded process may
 * have no short iteration, so the threshold doubles every `thresholdDoublingMs`.
 */
const shortLoopMs = 1;
const thresholdDoublingMs = 250;

/** Closes the server. After `ms` it also closes connections whose request is incomplete. */
export async function closeWithin(
  app: { readonly server: HttpServer; close(): Promise<unknown> },
  ms: number,
): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), ms);
  await app.close();
  clearTimeout(timer);
}

/**
 * Accepts the connections that the kernel has established; closing the port would reset them. Each iteration of the event
 * loop accepts one of them. They stay paused until the port is closed: a client that gets its response now would connect
 * again, and the queue would never become empty.
 */
async function drainAcceptQueue(server: Server, withinMs: number): Promise<Socket[]> {
  const accepted: Socket[] = [];
  const collect = (socket: Socket) => void accepted.push(socket);
  server.on('connection', collect);
  const startMs = performance.now();
  // Starts at the beginning of an iteration, so that each wait below spans a full one.
  await nextLoop();
  for (let paused = 0; ; paused = accepted.length) {
    const loopStartMs = performance.now();
    await nextLoop();
    // Not in the listener: Node would start reading after it.
    for (const socket of accepted.slice(paused)) socket.pause();
    const nowMs = performance.now();
    const thresholdMs = shortLoopMs * 2 ** ((nowMs - startMs) / thresholdDoublingMs);
    const isEmpty = accepted.length === paused && nowMs - loopStartMs < thresholdMs;
    if (isEmpty || nowMs - startMs > withinMs) break;
  }
  server.off('connection', collect);
  return accepted;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, ms)).unref();
  });
}
