import type { FastifyRequest } from 'fastify';

/** The signed-in users of requests that were authenticated by a session. */
const users = new WeakMap<FastifyRequest, string>();

export function setSessionUser(request: FastifyRequest, userId: string): void {
  users.set(request, userId);
}

/** Null before the session was read, and without one. */
export function sessionUser(request: FastifyRequest): string | null {
  return users.get(request) ?? null;
}
