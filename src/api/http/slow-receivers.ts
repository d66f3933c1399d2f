import type { Server, Socket } from 'node:net';
import { bodyBytesMax } from '../../contract/limits.ts';

/**
 * How long others may take, and how much they may leave lying here. Whoever is slow costs a connection and a little
 * memory, and only for a while.
 */
export interface ServerLimits {
  /** From the first byte of a request, or from connecting, to the end of the headers. */
  readonly headersMs: number;
  /** From the first byte of a request to its last. */
  readonly requestMs: number;
  /** How often connections are looked at. */
  readonly checkMs: number;
  /** In each such time a receiver must take so many bytes of what is ready for it. */
  readonly takingMs: number;
  readonly takenBytesMin: number;
  /** Connections open at once; further ones are closed unheard. */
  readonly connectionsMax: number;
  /** What has arrived of the bodies of all calls that are open; the call of what comes beyond it is turned away. */
  readonly heldBytesMax: number;
}

export const serverLimits: ServerLimits = {
  headersMs: 20_000,
  requestMs: 60_000,
  checkMs: 5_000,
  takingMs: 30_000,
  takenBytesMin: 65_536,
  connectionsMax: 20_000,
  // A thousand of the largest: with fewer calls open there is room for each.
  heldBytesMax: 1_000 * bodyBytesMax,
};

/** With so many connections those that have closed are looked for, and then whenever there are twice as many as were left. */
const forgottenMin = 1_000;

/**
 * Closes connections whose client does not take what it has asked for. Node has limits for slow senders, but none for
 * slow receivers; a limit on the silence of a socket would also end who waits for a run.
 */
export function disconnectSlowReaders(server: Server, limits: ServerLimits): void {
  const { checkMs, takingMs, takenBytesMin } = limits;
  /**
   * Connections, some of which have closed; where something is ready to be taken, since when, and how much was taken until
   * then. A listener on each for its end would have the garbage of its requests outlive the quick collections.
   */
  const sockets = new Map<Socket, { sinceMs: number; taken: number } | null>();
  let forgottenAt = forgottenMin;
  server.on('connection', (socket) => {
    sockets.set(socket, null);
    if (sockets.size < forgottenAt) return;
    for (const one of sockets.keys()) if (one.destroyed) sockets.delete(one);
    forgottenAt = Math.max(forgottenMin, 2 * sockets.size);
  });
  const timer = setInterval(() => {
    const nowMs = performance.now();
    for (const [socket, begun] of sockets) {
      const taken = takenBytes(socket);
      if (socket.destroyed) sockets.delete(socket);
      else if (socket.writableLength === 0) sockets.set(socket, null);
      else if (begun === null) sockets.set(socket, { sinceMs: nowMs, taken });
      else if (nowMs - begun.sinceMs < takingMs) continue;
      else if (taken - begun.taken < takenBytesMin) socket.destroy();
      else sockets.set(socket, { sinceMs: nowMs, taken });
    }
  }, checkMs);
  timer.unref();
  server.once('close', () => clearInterval(timer));
}

/** What the kernel has taken of what was written, within a chunk as well: an answer is mostly one. */
function takenBytes(socket: Socket): number {
  const { _handle } = socket as unknown as { _handle: Handle | null };
  return _handle ? _handle.bytesWritten - _handle.writeQueueSize : 0;
}

/** Node's own, which its timeouts of sockets go by. */
interface Handle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}
