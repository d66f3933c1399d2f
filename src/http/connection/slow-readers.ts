import type { Server, Socket } from 'node:net';

/** How long clients may take to send a request and to read its response. */
export interface ServerLimits {
  /** From connecting, or from the first byte of a later request, to the end of the headers. */
  readonly headersMs: number;
  /** From the first byte of a request to its last. */
  readonly requestMs: number;
  /** Interval between two checks of all connections. */
  readonly checkMs: number;
  /** While data is ready, a client must read at least `readBytesMin` in each window of this length. */
  readonly readWindowMs: number;
  readonly readBytesMin: number;
  /** While the server waits for a body, a client must send at least `sendBytesMin` in each window of this length. */
  readonly sendWindowMs: number;
  readonly sendBytesMin: number;
}

export const serverLimits: ServerLimits = {
  headersMs: 20_000,
  // The largest upload of a batch at 3 Mbit/s.
  requestMs: 300_000,
  checkMs: 5_000,
  readWindowMs: 30_000,
  readBytesMin: 65_536,
  sendWindowMs: 30_000,
  // 1 KiB in a second.
  sendBytesMin: 30_720,
};

/** Where the current window of a connection with unread data began. */
interface ReadWindow {
  readonly readBytes: number;
  /** Checks so far. Counted instead of time: after a pause of this process, a client reads before it is judged. */
  readonly checks: number;
}

/**
 * Disconnects clients that read a ready response too slowly. Node limits slow senders, but not slow readers: without this
 * rule, a client that stops reading pins its response in memory until TCP gives up, which may be never. An idle timeout
 * of the socket would also end long polls.
 *
 * One timer checks all connections. A `close` listener per socket would keep each socket's garbage alive beyond the young
 * generation, so closed sockets stay in the map until the next check.
 */
export function disconnectSlowReaders(server: Server, limits: ServerLimits): void {
  const { checkMs, readWindowMs, readBytesMin } = limits;
  const checksMin = Math.ceil(readWindowMs / checkMs);
  const windows = new Map<Socket, ReadWindow | null>();
  server.on('connection', (socket) => windows.set(socket, null));
  const timer = setInterval(() => {
    for (const [socket, window] of windows) {
      const readBytes = countReadBytes(socket);
      if (socket.destroyed) windows.delete(socket);
      else if (socket.writableLength === 0) windows.set(socket, null);
      else if (window === null) windows.set(socket, { readBytes, checks: 0 });
      else if (window.checks + 1 < checksMin)
        windows.set(socket, { ...window, checks: window.checks + 1 });
      else if (readBytes - window.readBytes < readBytesMin) socket.destroy();
      else windows.set(socket, { readBytes, checks: 0 });
    }
  }, checkMs);
  timer.unref();
  server.once('close', () => clearInterval(timer));
}

/** Bytes that the kernel accepted so far. Counts within a chunk, because most responses are a single chunk. */
function countReadBytes(socket: Socket): number {
  const { _handle } = socket as unknown as { _handle: Handle | null };
  return _handle ? _handle.bytesWritten - _handle.writeQueueSize : 0;
}

/** Node's own handle; Node's socket timeouts read the same fields. */
interface Handle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}
