import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../core/people/caller.ts';

/**
 * CORS with the allowed origins of keys and agents. Origins match exactly; there is no wildcard. A preflight has no key,
 * so the agent or workflow in its path decides: with its own origins and those of all keys that can access it. By slug or alias,
 * those of all keys: otherwise, a caller who guesses a name and knows the origin of a key would learn which agents exist.
 * The same holds for the OpenAI API and MCP, whose paths name no resource of one workspace.
 */

const exposedHeaders =
  'Cueline-Data-As-Of, ETag, Idempotent-Replayed, Location, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id';

export function allowOrigin(
  request: FastifyRequest,
  reply: FastifyReply,
  origins: readonly string[],
): boolean {
  const { origin } = request.headers;
  if (origin === undefined) return false;
  reply.header('vary', 'Origin');
  if (!origins.includes(origin)) return false;
  reply.headers({
    'access-control-allow-origin': origin,
    'access-control-expose-headers': exposedHeaders,
  });
  return true;
}

/** Allows the origins of the caller and of the agent to read the response. */
export function allowAgentOrigins(
  call: {
    readonly request: FastifyRequest;
    readonly reply: FastifyReply;
    readonly caller: Pick<Caller, 'allowedOrigins'>;
  },
  agent: { readonly allowedOrigins: readonly string[] },
): void {
  const { request, reply, caller } = call;
  allowOrigin(request, reply, [...caller.allowedOrigins, ...agent.allowedOrigins]);
}
