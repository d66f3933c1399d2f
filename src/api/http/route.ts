import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  type Body,
  type Endpoint,
  type Params,
  parsesBody,
  type Query,
} from '../../contract/endpoint.ts';
import type { Caller } from '../../core/execution/caller.ts';
import { requireCredential, unauthorized } from '../access/authenticate.ts';
import type { ApiDeps } from '../api-deps.ts';
import { announcesBody, type RawBody, readBody } from './body.ts';
import { allowOrigin } from './cors.ts';
import { toJson } from './json-response.ts';
import { checkQuery, fieldsOf, nothing } from './validate.ts';

/** Binds a declared endpoint to a handler: read what was sent, authenticate, check, call, answer. */

export interface Context<E extends Endpoint> {
  readonly params: Params<E>;
  readonly query: Query<E>;
  readonly body: Body<E>;
  readonly caller: E['auth'] extends 'none' ? null : Caller;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** What a handler gives back: the status, headers, and the body: a stream as it is, none for null, else JSON. */
export interface HandlerResponse {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export function route<const E extends Endpoint>(
  app: FastifyInstance,
  parts: ApiDeps,
  endpoint: E,
  handle: (context: Context<E>) => Promise<HandlerResponse>,
  /** What comes before the call is looked at any further: a limit must not be passed by a bad query. */
  first?: (caller: Caller, reply: FastifyReply) => Promise<void>,
): void {
  app.route({
    method: endpoint.method,
    url: routePath(endpoint),
    async handler(request, reply) {
      const sent = parsesBody(endpoint) ? await receive(request, endpoint) : discard(request);
      const caller =
        endpoint.auth === 'none' ? null : await parts.authenticator.authenticate(request, endpoint);
      if (caller) allowOrigin(request, reply, caller.allowedOrigins);
      if (caller?.kind === 'session') parts.checkSameOrigin(request);
      if (caller && first) await first(caller, reply);
      const query = checkQuery(endpoint.query ?? nothing, request.query as Record<string, unknown>);
      const body = sent ? fieldsOf(sent, endpoint) : undefined;
      const { params } = request;
      const context = { params, query, body, caller, request, reply } as unknown as Context<E>;
      const answer = await handle(context);
      send(reply, answer);
      return reply;
    },
  });
}

/** Before anybody is asked who calls: a body may take its time, and who is removed meanwhile must not be let in. */
function receive(request: FastifyRequest, { auth }: Endpoint): Promise<RawBody> {
  if (auth !== 'none') requireCredential(request);
  return readBody(request);
}

/** What nobody reads is thrown away as it comes: it would lie here for as long as the call is open, and count for nothing. */
function discard({ raw }: FastifyRequest): null {
  if (announcesBody(raw)) raw.resume();
  return null;
}

export function send(reply: FastifyReply, answer: HandlerResponse): void {
  reply.code(answer.status).headers(answer.headers ?? {});
  if (answer.body === null) reply.send();
  else if (answer.body instanceof Readable) reply.send(answer.body);
  else reply.type('application/json; charset=utf-8').send(toJson(answer.body));
}

/** The caller of a route that is not open to anyone. */
export function known(caller: Caller | null): Caller {
  if (!caller) throw unauthorized();
  return caller;
}

/** Fastify's way to write a path: `/agents/:agentId`. */
export function routePath(endpoint: Endpoint): string {
  return endpoint.path.replace(/\{(\w+)\}/g, ':$1');
}
