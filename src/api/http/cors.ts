import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../core/execution/caller.ts';
import { fromId } from '../../core/id.ts';
import { findAgentOrigins, findWorkflowOrigins } from '../../store/admission/callers.ts';
import type { Db } from '../../store/connection/database.ts';

/**
 * CORS by origins that agents and keys name, compared exactly; there is no wildcard. A preflight carries no key, so
 * it is answered by the agent or workflow in its path: by the origins of the keys that reach it, and of an agent its own.
 */

const exposed =
  'ETag, Idempotent-Replayed, Location, RateLimit, RateLimit-Policy, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id';

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
    'access-control-expose-headers': exposed,
  });
  return true;
}

/** Lets the pages of a caller's and of an agent's origins read what is said of that agent. */
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

/**
 * A page must be able to read that it is refused, also before anybody knows whose page it is: the path says. Where that
 * cannot be looked up the answer goes as it is.
 */
export function allowErrorResponses(app: FastifyInstance, db: Db): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const refused = reply.statusCode >= 400 && reply.statusCode < 500;
    const told = reply.hasHeader('access-control-allow-origin');
    if (!refused || told || !request.headers.origin) return done(null, payload);
    originsAt(db, (request.params ?? {}) as Place)
      .then((origins) => void allowOrigin(request, reply, origins))
      .catch(() => {})
      .finally(() => done(null, payload));
  });
}

export function handlePreflights(app: FastifyInstance, db: Db): void {
  for (const url of [
    '/api/v1/agents/:agentId/*',
    '/api/agents/:agentId/*',
    '/api/v1/agents/:agentId',
    '/api/v1/workflows/:workflowId/*',
    '/api/v1/workflows/:workflowId',
  ]) {
    app.options<{ Params: Place }>(url, async (request, reply) => {
      const { origin, 'access-control-request-method': method } = request.headers;
      const asked = origin !== undefined || method !== undefined;
      // A path that nothing answers, or OPTIONS as a method like any other.
      if (!asked || request.server.methodsAt(request.url).length === 0) {
        return reply.callNotFound();
      }
      const origins = origin ? await originsAt(db, request.params) : [];
      if (allowOrigin(request, reply, origins)) {
        reply.headers({
          'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
          'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, If-Match',
          'access-control-max-age': '600',
        });
      }
      return reply.code(204).send();
    });
  }
}

/** What the path names. */
interface Place {
  readonly agentId?: string;
  readonly workflowId?: string;
}

async function originsAt(db: Db, place: Place): Promise<string[]> {
  const agentId = fromId('agent', place.agentId ?? '');
  if (agentId !== null) return findAgentOrigins(db, agentId);
  const workflowId = fromId('workflow', place.workflowId ?? '');
  return workflowId === null ? [] : findWorkflowOrigins(db, workflowId);
}
