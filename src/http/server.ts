import type { Server } from 'node:http';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { CallFailure, notFound } from '../core/failure.ts';
import { basePathOf } from '../core/public-url.ts';
import { drainAfterResponse } from './connection/drain-socket.ts';
import { type GracefulShutdown, idleBufferMs, idleMs } from './connection/graceful-shutdown.ts';
import { generateRequestId, rejectConnect, rejectMalformed } from './connection/raw-response.ts';
import { recordRoutes } from './connection/route-table.ts';
import {
  disconnectSlowReaders,
  type ServerLimits,
  serverLimits,
} from './connection/slow-readers.ts';
import { endSlowSenders } from './connection/slow-senders.ts';
import { BodyBytes } from './limits/body-bytes.ts';
import { OpenRequests } from './limits/open-requests.ts';
import { announcesBody } from './request/body.ts';
import { rangeMatcher } from './request/caller-address.ts';
import { asCallFailure, errorResponse } from './response/error-response.ts';
import { addEventStreamHook } from './response/event-stream.ts';
import { isOpenAIPath, openaiErrorResponse } from './response/openai-error.ts';
import { send } from './route.ts';

/** The HTTP server: what applies to every request, whatever its route. */

export interface ServerOptions {
  readonly logger: FastifyBaseLogger;
  /** Addresses of proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[];
  /** Its path is removed from requests, because some proxies do not. An https URL enables HSTS. Default: none. */
  readonly publicUrl?: string | null;
  readonly shutdown: GracefulShutdown;
  /** Default: `serverLimits`. */
  readonly limits?: ServerLimits;
  /** Default: 48 MiB. */
  readonly bodyBytes?: BodyBytes;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** The methods of the routes at a URL; empty for an unknown path. */
    methodsAt(url: string): string[];
    /** The path of the public URL; empty if it has none. Paths in responses begin with it. */
    basePath: string;
    /** Sends the not-found page to browsers; null for other clients. */
    unknownPage?(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> | null;
  }
}

/** Node's default limit for the request line and all headers. */
const headerBytesMax = 16_384;

export function createServer(options: ServerOptions): FastifyInstance {
  const { limits = serverLimits } = options;
  const app = Fastify(fastifyOptions(options, limits));
  app.decorate('methodsAt', recordRoutes(app));
  addEventStreamHook(app);
  app.decorate('bodyBytes', options.bodyBytes ?? new BodyBytes(50_331_648));
  app.decorate('basePath', basePathOf(options.publicUrl ?? null));
  // An unknown `Expect` header does not change how a body is read.
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response);
  });
  rejectConnect(app);
  // Routes read bodies: execute treats a broken body as a value, not as an exception.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  disconnectSlowReaders(app.server, limits);
  endSlowSenders(app.server, limits);
  app.server.on('connection', (socket) => {
    options.shutdown.recordActivity();
    // Node caches the peer address at its first use: read here, it is known after a reset. If it is missing, the
    // connection was reset before it was accepted.
    if (socket.remoteAddress === undefined) socket.destroy();
  });
  addRequestHooks(app, options);
  app.setErrorHandler((error, request, reply: FastifyReply) => {
    // The database closes while a handler runs on whose client has left.
    const isAbandoned = options.shutdown.started && reply.raw.destroyed;
    sendError(error, request, reply, isAbandoned);
  });
  app.setNotFoundHandler((request, reply) => sendUnknownPath(app, request, reply));
  return app;
}

/** Clients of MCP add a slash to the URL that they are given. */
const mcpSlash = /^(\/mcp(?:\/[^/?]+)?)\/(?=\?|$)/;

function fastifyOptions(
  { logger, trustedProxies, publicUrl = null }: ServerOptions,
  limits: ServerLimits,
): FastifyHttpOptions<Server, FastifyBaseLogger> {
  const basePath = basePathOf(publicUrl);
  return {
    loggerInstance: logger,
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'requestId',
    }),
    trustProxy: trustedProxies.length > 0 && rangeMatcher(trustedProxies),
    genReqId: generateRequestId,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: idleMs,
    forceCloseConnections: 'idle',
    // The router sets no limit of its own: the key is checked first whatever the path, and headers are limited.
    routerOptions: { maxParamLength: headerBytesMax, ignoreDuplicateSlashes: false },
    rewriteUrl: ({ url = '/' }) =>
      withoutBasePath(url.includes('%') ? escapeBrokenPath(url) : url, basePath).replace(
        mcpSlash,
        '$1',
      ),
    clientErrorHandler: rejectMalformed,
    http: {
      requireHostHeader: false,
      keepAliveTimeoutBuffer: idleBufferMs,
      headersTimeout: limits.headersMs,
      connectionsCheckingInterval: limits.checkMs,
    },
    frameworkErrors: (_error, request, reply) => {
      reply.headers({ 'x-request-id': request.id, connection: 'close' });
      sendFailure(reply, notFound('path'), request);
    },
  };
}

/** One year. Other names of the domain are not ours to decide about. */
const hsts = 'max-age=31536000';

/** Hooks use callbacks: a promise for each hook costs a tenth of a request. */
function addRequestHooks(app: FastifyInstance, { shutdown, publicUrl }: ServerOptions): void {
  const openRequests = new OpenRequests();
  const headers = {
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    ...(publicUrl?.startsWith('https:') && { 'strict-transport-security': hsts }),
  };
  app.decorateRequest('open', false);
  app.decorateRequest('heldBody', null);
  app.decorateRequest('bodyOwner', null);
  app.decorateRequest('sessionUser', null);
  app.addHook('onRequest', (request, reply, done) => {
    // Fastify rejects a malformed content type before the key is checked, and a QUERY without one; `readBody` reads
    // the raw header instead, and no route answers QUERY.
    request.raw.headers['content-type'] = request.method === 'QUERY' ? 'any/type' : undefined;
    reply.headers(headers).header('x-request-id', request.id);
    const rejection = openRequests.add(request);
    reply.raw.once('close', () => {
      openRequests.remove(request);
      shutdown.recordActivity();
    });
    if (rejection) done(rejection);
    else done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    openRequests.remove(request);
    request.server.bodyBytes.release(request);
    // The rest of a rejected body is not read as the next request. `complete` may still be false for a request without
    // a body.
    const isSending = !request.raw.complete && announcesBody(request.raw);
    if (shutdown.started || isSending) {
      reply.header('connection', 'close');
      drainAfterResponse(request.raw.socket);
    }
    done(null, payload);
  });
}

function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  isAbandoned: boolean,
): void {
  const failure = asCallFailure(error);
  if (isAbandoned) request.log.debug({ err: error }, 'request abandoned');
  else if (!failure && !isDisconnect(error, reply))
    request.log.error({ err: error }, 'request failed');
  else if (failure?.code === 'UNAVAILABLE') request.log.warn({ err: error }, 'request rejected');
  sendFailure(reply, failure ?? new CallFailure('INTERNAL', 'Internal error.'), request);
}

function sendUnknownPath(app: FastifyInstance, request: FastifyRequest, reply: FastifyReply) {
  const allowed = app.methodsAt(request.url);
  if (allowed.length === 0) {
    return app.unknownPage?.(request, reply) ?? sendFailure(reply, notFound('path'), request);
  }
  reply.header('allow', allowed.join(', '));
  const message = `This path supports ${allowed.join(', ')}.`;
  return sendFailure(reply, new CallFailure('METHOD_NOT_ALLOWED', message), request);
}

function sendFailure(
  reply: FastifyReply,
  failure: CallFailure,
  { id, url }: Pick<FastifyRequest, 'id' | 'url'>,
): void {
  const responseOf = isOpenAIPath(url) ? openaiErrorResponse : errorResponse;
  send(reply, responseOf(failure, id));
}

/** Whether the client disconnected before the response started, which aborts its search or the stream of its body. */
function isDisconnect(error: unknown, { raw }: FastifyReply): boolean {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return raw.destroyed && (code === 'ERR_STREAM_PREMATURE_CLOSE' || name === 'AbortError');
}

/** A proxy may have removed the base path already. */
function withoutBasePath(url: string, basePath: string): string {
  if (basePath === '' || !url.startsWith(basePath)) return url;
  const rest = url.slice(basePath.length);
  if (rest.startsWith('/')) return rest;
  return rest === '' || rest.startsWith('?') ? `/${rest}` : url;
}

/** Escapes the percent signs of a malformed path. The router would respond before the key is checked. */
function escapeBrokenPath(url: string): string {
  const queryAt = url.indexOf('?');
  const path = queryAt < 0 ? url : url.slice(0, queryAt);
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return path.replaceAll('%', '%25') + url.slice(path.length);
  }
}
