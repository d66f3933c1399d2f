import type { FastifyReply } from 'fastify';

/** Aborts once the client has disconnected, or has its response. */
export function disconnectOf({ raw }: Pick<FastifyReply, 'raw'>): AbortSignal {
  const controller = new AbortController();
  // A client that disconnected during authentication emits no further `close`.
  if (raw.destroyed) controller.abort();
  else raw.once('close', () => controller.abort());
  return controller.signal;
}
