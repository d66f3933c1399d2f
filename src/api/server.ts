import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { CallFailure } from '../core/failure.ts';
import { randomHex } from '../core/random.ts';
import { announcesBody } from './http/body.ts';
import { linger, lingerAtEnd } from './http/drain-socket.ts';
import { asCallFailure, errorResponse } from './http/error-response.ts';
import { type GracefulShutdown, idleMs, idleMsMore } from './http/graceful-shutdown.ts';
import { toJson } from './http/json-response.ts';
import { send } from './http/route.ts';
import { disconnectSlowReaders, type ServerLimits, serverLimits } from './http/slow-receivers.ts';

/** The HTTP server: what holds for every request, whatever routes are put on it. */

export interface ServerOptions {
  readonly logger: FastifyBaseLogger;
  /** Addresses of proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  readonly departure: GracefulShutdown;
  /** `serverLimits` where they are left out. */
  readonly slow?: ServerLimits;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Not answered yet. */
    open: boolean;
    /** What has arrived of its body and counts for all that is held. */
    heldBytes: number;
    /** Counts a part of its body, or says that there is no room for it. */
    hold(bytes: number): CallFailure | null;
  }
  interface FastifyInstance {
    /** The methods that the path of a URL answers; none where it is not known. */
    methodsAt(url: string): string[];
    /** Shows people that their address leads nowhere, with a 404; null for whoever takes no page. */
    unknownPage?(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> | null;
  }
  interface FastifyContextConfig {
    /** How many more requests may be open than for others before one to this route is turned away; none unless set. */
    readonly openMoreMax?: number;
  }
}

/** How many answers a connection has not taken yet. */
const untaken = Symbol('untaken');
type Connection = Socket & { [untaken]?: number };

/** Requests worked on at once before new ones are turned away; callers that wait for a run count too. */
const openRequestsMax = 5_000;
/** Of these on one connection, sent without waiting for the answers before; more is a flood, and it is closed. */
const pipelinedMax = 100;
/** Of the request line and all headers, as Node has it. */
const headerBytesMax = 16_384;

export function createServer(options: ServerOptions): FastifyInstance {
  const { departure, slow = serverLimits } = options;
  const app = Fastify({
    loggerInstance: options.logger,
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'requestId',
    }),
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    genReqId: makeRequestId,
    requestTimeout: slow.requestMs,
    keepAliveTimeout: idleMs,
    forceCloseConnections: 'idle',
    // No limit of the router's own: a key is looked at whatever stands in the path, and the headers are bounded.
    routerOptions: { maxParamLength: headerBytesMax, ignoreDuplicateSlashes: false },
    rewriteUrl: ({ url = '/' }) => (url.includes('%') ? readable(url) : url),
    clientErrorHandler: answerMalformed,
    http: {
      requireHostHeader: false,
      keepAliveTimeoutBuffer: idleMsMore,
      headersTimeout: slow.headersMs,
      connectionsCheckingInterval: slow.checkMs,
    },
    frameworkErrors: (_error, request, reply) => {
      reply.headers({ 'x-request-id': request.id, connection: 'close' });
      send(
        reply,
        errorResponse(new CallFailure('NOT_FOUND', 'There is no such path.'), request.id),
      );
    },
  });
  app.decorate('methodsAt', noteRoutes(app));
  // A body of unusual expectations is a body like any other.
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response);
  });
  // Without a listener the connection would be closed and nothing said.
  app.server.on('connect', (_request, socket) => {
    const failure = new CallFailure('METHOD_NOT_ALLOWED', 'This server is no proxy.');
    answerBare(socket as Socket, 405, failure, [`Allow: ${methodsShown.join(', ')}`]);
  });
  // Bodies are read by the routes: on execute a broken one is a value, not an exception.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));

  app.server.maxConnections = slow.connectionsMax;
  disconnectSlowReaders(app.server, slow);

  // Until the answer is there, not until it is taken: who takes none must not keep others out. It stands on each request
  // whether it is counted: each table of a set of them would keep the next from being freed by a quick collection.
  let open = 0;
  // Of bodies what has arrived: what is only announced takes no memory, and whoever announces much would keep others out.
  let heldBytes = 0;
  const answered = (request: FastifyRequest) => {
    if (!request.open) return;
    request.open = false;
    open--;
    heldBytes -= request.heldBytes;
  };
  app.decorateRequest('open', false);
  app.decorateRequest('heldBytes', 0);
  app.decorateRequest('hold', function (bytes) {
    // Nobody would give it back.
    if (!this.open) return null;
    if (heldBytes + bytes > slow.heldBytesMax) return busy('Too much is being sent at once.');
    heldBytes += bytes;
    this.heldBytes += bytes;
    return null;
  });
  app.server.on('connection', departure.touched);
  // Node tells the address as long as the connection is there, and beyond only where it was asked for by then.
  app.server.on('connection', (socket) => {
    // Reset before it was taken in: what was sent could still be read, and nobody is there.
    if (socket.remoteAddress === undefined) socket.destroy();
  });
  // Hooks with callbacks: a promise for each hook of each request is a tenth of what a request costs.
  app.addHook('onRequest', (request, reply, done) => {
    // Fastify would refuse a malformed type before anyone has looked at the key; `readBody` judges it by itself.
    // Of QUERY it would refuse the lack of one, and no route of ours has a use for that method.
    request.raw.headers['content-type'] = request.method === 'QUERY' ? 'any/type' : undefined;
    reply.headers({
      'x-request-id': request.id,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
    const socket: Connection = request.raw.socket;
    const pipelined = (socket[untaken] ?? 0) + 1;
    socket[untaken] = pipelined;
    if (pipelined > pipelinedMax) socket.destroy();
    request.open = true;
    open++;
    reply.raw.once('close', () => {
      answered(request);
      socket[untaken] = (socket[untaken] ?? 1) - 1;
      departure.touched();
    });
    if (open <= openRequestsMax || open <= openMaxOf(request)) done();
    else done(busy('Too many requests are open.'));
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    answered(request);
    // Whoever is still sending must not be read to the end for the sake of the next request.
    // What has no body may not be marked complete yet where it is answered at once.
    const sending = !request.raw.complete && announcesBody(request.raw);
    if (departure.begun || sending) {
      reply.header('connection', 'close');
      lingerAtEnd(request.raw.socket);
    }
    done(null, payload);
  });

  app.setErrorHandler((error, request, reply) => {
    const failure = asCallFailure(error);
    if (!failure && !isLeft(error, reply)) request.log.error({ err: error }, 'fault');
    else if (failure?.code === 'UNAVAILABLE') request.log.warn({ err: error }, 'unavailable');
    send(
      reply,
      errorResponse(failure ?? new CallFailure('INTERNAL', 'Internal error.'), request.id),
    );
  });
  app.setNotFoundHandler((request, reply) => {
    const allowed = app.methodsAt(request.url);
    if (allowed.length === 0) {
      const page = app.unknownPage?.(request, reply);
      if (page) return page;
      return send(
        reply,
        errorResponse(new CallFailure('NOT_FOUND', 'There is no such path.'), request.id),
      );
    }
    const message = `This path answers ${allowed.join(', ')}.`;
    reply.header('allow', allowed.join(', '));
    send(reply, errorResponse(new CallFailure('METHOD_NOT_ALLOWED', message), request.id));
  });

  return app;
}

/**
 * What is no HTTP never becomes a request, so it is answered here, in the form of every other error. A connection that
 * was reset, or that nothing can be written to any more, is only closed.
 */
function answerMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const [status, text] = malformed[error.code ?? ''] ?? [400, 'The request is not valid HTTP.'];
  answerBare(socket, status, new CallFailure('INVALID_REQUEST', text), []);
}

/** Answers on a connection that no request stands for, and closes it. */
function answerBare(
  socket: Socket,
  status: number,
  failure: CallFailure,
  headers: readonly string[],
): void {
  const requestId = makeRequestId();
  const body = toJson(errorResponse(failure, requestId).body);
  socket.write(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Connection: close',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      ...headers,
      '',
      body,
    ].join('\r\n'),
  );
  linger(socket);
}

const malformed: Readonly<Record<string, [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers are larger than 16 KiB.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time.'],
};

/** Whether whoever asked has left before the answer began, which broke off what it was to be made of. */
function isLeft(error: unknown, { raw }: FastifyReply): boolean {
  return raw.destroyed && (error as { code?: unknown }).code === 'ERR_STREAM_PREMATURE_CLOSE';
}

/** Asked only where it is crowded: options of a route are put together anew each time. */
function openMaxOf({ routeOptions }: FastifyRequest): number {
  return openRequestsMax + (routeOptions.config.openMoreMax ?? 0);
}

function busy(why: string): CallFailure {
  return new CallFailure('UNAVAILABLE', `${why} Try again.`, { retryAfter: 1 });
}

/** A path whose escapes are broken, as one that holds them as text: the router would answer before the key is looked at. */
function readable(url: string): string {
  const at = url.indexOf('?');
  const path = at < 0 ? url : url.slice(0, at);
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return path.replaceAll('%', '%25') + url.slice(path.length);
  }
}

function makeRequestId(): string {
  return `req_${randomHex(12)}`;
}

/** The routes that a server has, to tell an unknown path from a known one with another method. */
function noteRoutes(app: FastifyInstance): (url: string) => string[] {
  const routes: { readonly methods: string[]; readonly pattern: RegExp }[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    const methods = [method].flat();
    const pattern = url.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+').replace('*', '.*');
    routes.push({ methods, pattern: new RegExp(`^${pattern}$`) });
  });
  return (url) => {
    const path = url.split('?')[0] ?? '';
    const there = routes.filter(({ pattern }) => pattern.test(path));
    return methodsShown.filter((one) => there.some(({ methods }) => methods.includes(one)));
  };
}

const methodsShown = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
