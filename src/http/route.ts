import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import { invalidRequest } from '../core/failure.ts';
import { type IdKind, storedId } from '../core/id.ts';
import type { Caller } from '../core/people/caller.ts';
import { inWorkspace } from '../db/fair-connections.ts';
import type { Authenticator } from './authenticator.ts';
import {
  type Body,
  type Endpoint,
  type Ids,
  isManagement,
  type Params,
  parsesBody,
  type Query,
  type ResponseBody,
  successOf,
} from './contract/operation.ts';
import { ifMatch, pathParams, refersTo } from './contract/shared.ts';
import { allowOrigin } from './cors.ts';
import type { ManagementLimit } from './limits/management-limit.ts';
import { type AgentPaths, agentPaths } from './request/agent-paths.ts';
import { announcesBody, type RawBody, readBody } from './request/body.ts';
import { requireCredential, unauthorized } from './request/credential.ts';
import { refuseTags } from './request/if-match.ts';
import { checkQuery, noFields, readFields } from './request/validate.ts';
import { EventStream } from './response/event-stream.ts';
import { toJson } from './response/json-response.ts';
import { type Stored, toWire } from './response/to-wire.ts';

/** Binds an endpoint of the contract to a handler: read the body, authenticate, validate, handle, respond. */

export interface RouteDeps {
  readonly authenticator: Authenticator;
  /** Rejects a write that a browser sends from another origin. */
  readonly checkSameOrigin: (request: FastifyRequest) => void;
  readonly limitManagement: ManagementLimit;
  /** Replaces the slugs and aliases of agents at these paths of a request by identifiers, in place. */
  readonly resolveAgents: (caller: Caller, paths: AgentPaths, value: unknown) => Promise<void>;
}

export interface Context<E extends Endpoint> {
  readonly params: Params<E>;
  readonly ids: Ids<E>;
  readonly query: Query<E>;
  readonly body: Body<E>;
  readonly caller: E['auth'] extends 'none' ? null : Caller;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** The response of a handler. A stream is sent as it is, null sends no body, every other body is sent as JSON. */
export interface HandlerResponse {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The success of an operation, which has one status: what the contract declares for it is taken from `result` by `toWire`. */
export interface Success<E extends Endpoint> {
  readonly result: Stored<ResponseBody<E>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export function route<const E extends Endpoint, Deps extends RouteDeps>(
  app: FastifyInstance,
  deps: Deps,
  endpoint: E,
  handle: (context: Context<E>) => Promise<Success<E> | HandlerResponse>,
  /** Runs before the query is validated, so that an invalid query also counts towards a rate limit. */
  limitCalls?: (deps: Deps, caller: Caller, reply: FastifyReply) => Promise<void>,
): void {
  const agents = agentPathsOf(endpoint);
  app.route({
    method: endpoint.method,
    url: routePath(endpoint),
    async handler(request, reply) {
      const rawBody = parsesBody(endpoint)
        ? await receiveBody(request, endpoint)
        : discardBody(request);
      const caller =
        endpoint.auth === 'none' ? null : await deps.authenticator.authenticate(request, endpoint);
      const respond = () => handleRequest(request, reply, caller, rawBody);
      await (caller ? inWorkspace(caller.workspaceId, respond) : respond());
      return reply;
    },
  });

  async function handleRequest(
    request: FastifyRequest,
    reply: FastifyReply,
    caller: Caller | null,
    rawBody: RawBody | null,
  ): Promise<void> {
    if (caller) allowOrigin(request, reply, caller.allowedOrigins);
    if (caller?.kind === 'session') deps.checkSameOrigin(request);
    if (caller && limitCalls) await limitCalls(deps, caller, reply);
    else if (caller && isManagement(endpoint)) deps.limitManagement(caller, reply);
    requireDecodable(request.url);
    const query = checkQuery(endpoint.query ?? noFields, request.query as Record<string, unknown>);
    const body = rawBody ? readFields(rawBody, endpoint) : undefined;
    if (endpoint.method === 'PATCH' && endpoint.headers !== ifMatch) refuseTags(request);
    const { params } = request;
    if (caller) await deps.resolveAgents(caller, agents, { params, query, body });
    const ids = idsIn(params as Params<E>);
    const context = { params, ids, query, body, caller, request, reply } as unknown as Context<E>;
    const response = await handle(context);
    send(reply, 'result' in response ? success(response) : response);
  }

  function success({ result, headers = {} }: Success<E>): HandlerResponse {
    const [status, schema] = successOf(endpoint);
    return { status, headers, body: schema && toWire(schema, result as never) };
  }
}

/** The stored forms of the identifiers in a path. */
function idsIn(params: Readonly<Record<string, string>>): Record<string, string> {
  const ids: Record<string, string> = {};
  for (const [name, text] of Object.entries(params)) {
    const schema: TSchema = pathParams[name as keyof typeof pathParams];
    if (refersTo in schema) ids[name] = storedId(schema[refersTo] as IdKind, text);
  }
  return ids;
}

function agentPathsOf({ path, query = noFields, body = noFields }: Endpoint): AgentPaths {
  const { agentId } = pathParams;
  const params = path.includes('{agentId}') ? Type.Object({ agentId }) : noFields;
  return agentPaths(Type.Object({ params, query, body }));
}

/** Precedes authentication: a body may take long, and a caller that is removed meanwhile must be rejected. */
function receiveBody(request: FastifyRequest, { auth }: Endpoint): Promise<RawBody> {
  if (auth !== 'none') requireCredential(request);
  return readBody(request);
}

/** Discards a body that the endpoint does not read; otherwise it stays in memory until the response. */
function discardBody({ raw }: FastifyRequest): null {
  if (announcesBody(raw)) raw.resume();
  return null;
}

/** Routes name a `location` without the path of the public URL. */
export function send(reply: FastifyReply, response: HandlerResponse): void {
  const { headers = {} } = response;
  reply.code(response.status).headers(headers);
  if (headers.location) reply.header('location', reply.server.basePath + headers.location);
  if (response.body === null) reply.send();
  else if (response.body instanceof Readable || response.body instanceof EventStream)
    reply.send(response.body);
  else reply.type('application/json; charset=utf-8').send(toJson(response.body));
}

/** Fastify passes a query that cannot be decoded on as it is: a search for it would find nothing. */
function requireDecodable(url: string): void {
  const at = url.indexOf('?');
  if (at < 0) return;
  try {
    decodeURIComponent(url.slice(at + 1));
  } catch {
    throw invalidRequest('The query is not percent-encoded UTF-8.');
  }
}

/** The caller of a route that requires one. */
export function requireCaller(caller: Caller | null): Caller {
  if (!caller) throw unauthorized();
  return caller;
}

/** The path in Fastify's syntax: `/agents/:agentId`. */
export function routePath(endpoint: Endpoint): string {
  return endpoint.path.replace(/\{(\w+)\}/g, ':$1');
}
