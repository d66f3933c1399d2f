import type { Socket } from 'node:net';

/**
 * Closes a connection on which unread request bytes may still arrive. If a socket is closed with unread bytes, the kernel
 * resets the connection and the client loses the response. So this ends our side first, then reads and discards what
 * arrives until the client closes or `drainMs` has passed.
 */
export function drainSocket(socket: Socket): void {
  // Node removes its own error listener after a parse error; a reset would then end the process.
  socket.on('error', () => {});
  socket
    .removeAllListeners('data')
    .on('data', () => {})
    .resume();
  socket.end();
  const timer = setTimeout(() => socket.destroy(), drainMs).unref();
  socket.once('close', () => clearTimeout(timer));
}

const drainMs = 1_000;

/** Drains this connection once its last response is written; Node would close it at once. */
export function drainAfterResponse(socket: Socket): void {
  socket.destroySoon = () => drainSocket(socket);
}
