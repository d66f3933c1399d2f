import type { FastifyReply } from 'fastify';

/** A controller that aborts once the client has disconnected, or has its response. */
export function abortOnDisconnect({ raw }: Pick<FastifyReply, 'raw'>): AbortController {
  const controller = new AbortController();
  // A client that disconnected during authentication emits no further `close`.
  if (raw.destroyed) controller.abort();
  else raw.once('close', () => controller.abort());
  return controller;
}
