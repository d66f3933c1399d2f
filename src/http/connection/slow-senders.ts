import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ServerLimits } from './slow-readers.ts';

/** Where the current window of a connection with an incomplete request began. */
interface SendWindow {
  readonly request: IncomingMessage;
  readonly sentBytes: number;
  /** Checks so far. Counted instead of time: between two of them, whatever has arrived is read. */
  readonly checks: number;
}

/**
 * Ends requests whose body arrives too slowly, with 408: an upload holds a slot, and any request counts as open. Only time in
 * which the server has read everything counts, so a busy server blames nobody.
 *
 * One timer checks all connections, as for slow readers. A timer per request would be garbage of each call.
 */
export function endSlowSenders(
  server: Server,
  { checkMs, sendWindowMs, sendBytesMin }: ServerLimits,
): void {
  const checksMin = Math.ceil(sendWindowMs / checkMs);
  const windows = new Map<Socket, SendWindow | null>();
  server.on('connection', (socket) => windows.set(socket, null));
  const timer = setInterval(() => {
    for (const [socket, window] of windows) {
      const request = socket.destroyed ? null : incompleteRequest(socket);
      const { bytesRead: sentBytes } = socket;
      if (socket.destroyed) windows.delete(socket);
      else if (!request || request.readableLength > 0) windows.set(socket, null);
      else if (window?.request !== request) windows.set(socket, { request, sentBytes, checks: 0 });
      else if (window.checks + 1 < checksMin)
        windows.set(socket, { ...window, checks: window.checks + 1 });
      else if (sentBytes - window.sentBytes < sendBytesMin) endRequest(server, socket);
      else windows.set(socket, { request, sentBytes, checks: 0 });
    }
  }, checkMs);
  timer.unref();
  server.once('close', () => clearInterval(timer));
}

export const slowBodyCode = 'CUELINE_SLOW_BODY';

/** As Node ends requests that take too long. A response that has begun cannot become a 408. */
function endRequest(server: Server, socket: Socket): void {
  if ((socket as HttpSocket)._httpMessage?.headersSent) return void socket.destroy();
  const error = Object.assign(new Error('The body arrived too slowly.'), { code: slowBodyCode });
  server.emit('clientError', error, socket);
}

function incompleteRequest(socket: Socket): IncomingMessage | null {
  const { incoming } = (socket as HttpSocket).parser ?? {};
  return incoming && !incoming.complete ? incoming : null;
}

/** Node's own fields; Node's timeouts of requests read the same. */
interface HttpSocket extends Socket {
  readonly parser?: { readonly incoming: IncomingMessage | null } | null;
  readonly _httpMessage?: ServerResponse | null;
}
