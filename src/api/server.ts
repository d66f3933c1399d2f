import { randomBytes } from 'node:crypto';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { endpoints } from '../contract/index.ts';
import { CallFailure } from '../core/failure.ts';
import { asCallFailure, errorAnswer } from './errors.ts';
import { routePath, send } from './route.ts';

/** The HTTP server: what holds for every request, whatever routes are put on it. */

export interface ServerOptions {
  readonly logger: FastifyBaseLogger;
  /** Addresses of proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
}

/** Requests open at once before new ones are turned away; callers that wait for a run count too. */
const openRequestsMax = 5_000;
/** From the first byte of a request to its last. */
const requestTimeoutMs = 60_000;

export function createServer(options: ServerOptions): FastifyInstance {
  const app = Fastify({
    loggerInstance: options.logger,
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'requestId',
    }),
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    genReqId: () => `req_${randomBytes(12).toString('hex')}`,
    requestTimeout: requestTimeoutMs,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 8_192, ignoreDuplicateSlashes: false },
    frameworkErrors: (_error, request, reply) => {
      reply.header('x-request-id', request.id);
      send(reply, errorAnswer(new CallFailure('NOT_FOUND', 'There is no such path.'), request.id));
    },
  });
  // Bodies are read by the routes: on execute a broken one is a value, not an exception.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));

  let open = 0;
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
  });
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({
      'x-request-id': request.id,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
    open++;
    reply.raw.once('close', () => open--);
    if (open > openRequestsMax) {
      throw new CallFailure('UNAVAILABLE', 'Too many requests are open. Try again.', {
        retryAfter: 1,
      });
    }
  });
  app.addHook('onSend', async (request, reply, payload) => {
    // A keep-alive connection would hold up the close for as long as its client likes; and whoever is still sending
    // must not be read to the end for the sake of the next request.
    if (closing || !request.raw.complete) reply.header('connection', 'close');
    return payload;
  });

  app.setErrorHandler((error, request, reply) => {
    const failure = asCallFailure(error);
    if (!failure) request.log.error({ err: error }, 'fault');
    else if (failure.code === 'UNAVAILABLE') request.log.warn({ err: error }, 'unavailable');
    send(reply, errorAnswer(failure ?? new CallFailure('INTERNAL', 'Internal error.'), request.id));
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0] ?? '';
    const allowed = methodsOf(path);
    if (allowed.length === 0) {
      return send(
        reply,
        errorAnswer(new CallFailure('NOT_FOUND', 'There is no such path.'), request.id),
      );
    }
    const message = `This path answers ${allowed.join(', ')}.`;
    reply.header('allow', allowed.join(', '));
    send(reply, errorAnswer(new CallFailure('METHOD_NOT_ALLOWED', message), request.id));
  });

  return app;
}

const paths = Object.values(endpoints).map((endpoint) => ({
  method: endpoint.method,
  pattern: new RegExp(`^${routePath(endpoint).replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`),
}));

/** The methods that the contract declares for a path. */
function methodsOf(path: string): string[] {
  return [
    ...new Set(paths.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)),
  ];
}
