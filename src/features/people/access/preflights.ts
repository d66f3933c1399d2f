import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fromId } from '../../../core/id.ts';
import { isName } from '../../../core/slug.ts';
import { words } from '../../../core/words.ts';
import type { Db } from '../../../db/database.ts';
import { allowOrigin } from '../../../http/cors.ts';
import {
  findAgentOrigins,
  findKeyOrigins,
  findNamedAgentOrigins,
  findWorkflowOrigins,
} from '../statements/callers.ts';

/** What the API reads, the trace context, and the mark of a script. */
const readHeaders = words(`
  Authorization Content-Type Idempotency-Key If-Match Last-Event-ID X-Requested-With traceparent
  tracestate baggage MCP-Protocol-Version Mcp-Method Mcp-Name
`);

const requestedHeadersMax = 100;

const isHeaderName = /^[\w!#$%&'*+.^`|~-]{1,100}$/;

/**
 * An allowed origin may send any header: libraries in pages add their own to every call, such as `X-Stainless-Lang`, and
 * the server ignores what it does not know.
 */
function allowedHeaders({ headers }: FastifyRequest): string {
  const requested = String(headers['access-control-request-headers'] ?? '').split(',');
  const names = requested.slice(0, requestedHeadersMax).map((name) => name.trim());
  return [...readHeaders, ...names.filter((name) => isHeaderName.test(name))].join(', ');
}

/**
 * Allows a page to read a 4xx that precedes authentication, with the origins of the agent or workflow in the path. If
 * the database is unavailable, the response is sent without CORS headers.
 */
export function allowErrorResponses(app: FastifyInstance, db: Db): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const rejected = reply.statusCode >= 400 && reply.statusCode < 500;
    const allowed = reply.hasHeader('access-control-allow-origin');
    const { origin } = request.headers;
    if (!rejected || allowed || !origin) return done(null, payload);
    findOrigins(db, request.url, origin)
      .then((origins) => void allowOrigin(request, reply, origins))
      .catch(() => {})
      .finally(() => done(null, payload));
  });
}

export function handlePreflights(app: FastifyInstance, db: Db): void {
  for (const url of words(`
    /api/v1/agents/:agentId/* /api/agents/:agentId/* /api/v1/agents/:agentId
    /api/v1/workflows/:workflowId/* /api/v1/workflows/:workflowId /v1/* /mcp /mcp/*
  `)) {
    app.options(url, async (request, reply) => {
      const { origin, 'access-control-request-method': method } = request.headers;
      const isPreflight = origin !== undefined || method !== undefined;
      if (!isPreflight || request.server.methodsAt(request.url).length === 0) {
        return reply.callNotFound();
      }
      const origins = origin ? await findOrigins(db, request.url, origin) : [];
      if (allowOrigin(request, reply, origins)) {
        reply.headers({
          vary: 'Origin, Access-Control-Request-Headers',
          'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
          'access-control-allow-headers': allowedHeaders(request),
          'access-control-max-age': '600',
        });
      }
      return reply.code(204).send();
    });
  }
}

/** Matched here, because a request without a route, such as one with another method, has no parameters. */
const resourcePath = /^\/api(?:\/v1)?\/(agents|workflows)\/([^/?]+)/;

/** The OpenAI API and MCP: an origin may ask if any key allows it; the request itself then needs such a key. */
const keyPath = /^\/(?:v1|mcp)(?:[/?]|$)/;

async function findOrigins(db: Db, url: string, origin: string): Promise<string[]> {
  if (keyPath.test(url)) return findKeyOrigins(db, origin);
  const [, kind = '', id = ''] = resourcePath.exec(url) ?? [];
  const agentId = fromId('agent', id);
  if (agentId !== null) return findAgentOrigins(db, agentId);
  const workflowId = fromId('workflow', id);
  if (workflowId !== null) return findWorkflowOrigins(db, workflowId);
  // Without a key there is no workspace and nobody who may know the name; the request itself then needs a key.
  const name = decoded(id);
  return kind === 'agents' && isName(name) ? findNamedAgentOrigins(db, name, origin) : [];
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
