import type { Socket } from 'node:net';

/**
 * Closing a connection on which more may come than was read. Closed with bytes that nobody has read, the kernel resets it,
 * and the client loses what it has not taken yet of our answers. So our side ends first, and what still comes is read and
 * thrown away for a while.
 */
export function linger(socket: Socket): void {
  socket.end();
  setTimeout(() => socket.destroy(), lingerMs).unref();
}

const lingerMs = 1_000;

const lingering = new WeakSet<Socket>();

/** Once this connection's last answer is written, it lingers; Node would close it at once. */
export function lingerAtEnd(socket: Socket): void {
  socket.destroySoon = () => {
    lingering.add(socket);
    linger(socket);
  };
}

/** Whether its last answer was written: what comes now belongs to no request that can be answered. */
export function isLingering(socket: Socket): boolean {
  return lingering.has(socket);
}
