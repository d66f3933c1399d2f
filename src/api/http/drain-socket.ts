import type { Socket } from 'node:net';

/**
 * Closing a connection on which more may come than was read. Closed with bytes that nobody has read, the kernel resets it,
 * and the client loses what it has not taken yet of our answers. So our side ends first, and what still comes is read and
 * thrown away for a while.
 */
export function linger(socket: Socket): void {
  // Of what it was for HTTP nothing may be left: who resets the connection now must not end the process.
  socket.on('error', () => {});
  socket
    .removeAllListeners('data')
    .on('data', () => {})
    .resume();
  socket.end();
  const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.once('close', () => clearTimeout(timer));
}

const lingerMs = 1_000;

/** Once this connection's last answer is written, it lingers; Node would close it at once. */
export function lingerAtEnd(socket: Socket): void {
  socket.destroySoon = () => linger(socket);
}
