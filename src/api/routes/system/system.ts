import { createHash, timingSafeEqual } from 'node:crypto';
import { BlockList, isIPv6 } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { openapi } from '../../../contract/openapi/openapi.ts';
import { getHealth, getMetrics, getOpenapi, getReadiness } from '../../../contract/system.ts';
import { CallFailure } from '../../../core/failure.ts';
import { ReadOnlyFailure, StartupFailure } from '../../../core/startup-failure.ts';
import type { Db } from '../../../store/connection/database.ts';
import { checkSchema } from '../../../store/migrate.ts';
import { errorResponse } from '../../http/error-response.ts';
import type { Metrics } from '../../http/metrics.ts';
import { routePath, send } from '../../http/route.ts';
import { cached, withTimeout } from '../../http/ttl-cache.ts';

export interface SystemDeps {
  readonly db: Db;
  readonly metrics: Pick<Metrics, 'contentType' | 'text'>;
  /** What `/metrics` asks for from elsewhere than this machine; null answers nobody there. */
  readonly metricsToken: string | null;
  /** Whether the process has been told to end. */
  readonly draining: () => boolean;
  /** False in a process that only works while it has no lease, under which alone it may. */
  readonly leased: () => boolean;
}

/**
 * Whoever watches over the process must hear from it when it is crowded as well. What is answered at once takes no room
 * from anybody; what may wait for the database has some of its own.
 */
const atOnce = { config: { openMoreMax: Number.POSITIVE_INFINITY } };
const watched = { config: { openMoreMax: 1_000 } };

const readinessKeptMs = 1_000;
const readinessTimeoutMs = 2_000;

/** What every process says of itself, one that only works included: alive, ready, metrics. */
export function systemRoutes(app: FastifyInstance, parts: SystemDeps): void {
  const fits = schemaCheck(parts.db);
  const unready = cached(
    () =>
      withTimeout(fits(), readinessTimeoutMs).then(
        () => null,
        (error: unknown) => {
          app.log.warn({ err: error }, 'not ready');
          return reasonOf(error);
        },
      ),
    readinessKeptMs,
  );

  const unleased = () => (parts.leased() ? null : 'The process has no lease.');

  app.get(routePath(getHealth), atOnce, (_request, reply) => {
    send(reply, { status: 200, body: { status: 'ok' } });
  });

  app.get(routePath(getReadiness), watched, async (request, reply) => {
    const reason = parts.draining()
      ? 'The process is draining.'
      : ((await unready()) ?? unleased());
    if (reason === null) send(reply, { status: 200, body: { status: 'ready' } });
    else send(reply, errorResponse(new CallFailure('UNAVAILABLE', reason), request.id));
    return reply;
  });

  app.get(routePath(getMetrics), watched, async (request, reply) => {
    if (isLocal(request) || bears(request, parts.metricsToken)) {
      return reply.type(parts.metrics.contentType).send(await parts.metrics.text());
    }
    send(reply, errorResponse(new CallFailure('UNAUTHORIZED', elsewhere), request.id));
    return reply;
  });
}

/** The OpenAPI document, made and compressed at the first request for it: as plain text it is half a megabyte. */
export function openapiRoute(app: FastifyInstance, version: string): void {
  let made: { readonly json: string; readonly gzipped: Buffer } | null = null;
  const document = () => {
    if (made) return made;
    const json = JSON.stringify(openapi(version));
    made = { json, gzipped: gzipSync(json) };
    return made;
  };

  app.get(routePath(getOpenapi), (request, reply) => {
    const { json, gzipped } = document();
    reply.header('vary', 'accept-encoding').type('application/json; charset=utf-8');
    if (/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) {
      reply.header('content-encoding', 'gzip').send(gzipped);
    } else reply.send(json);
  });
}

const elsewhere =
  'Metrics are answered on loopback, and elsewhere to the bearer of CUELINE_METRICS_TOKEN.';

/**
 * Throws unless database and program fit together. Once they did, a schema that a newer program has brought on is no
 * reason to leave: in a rolling upgrade all processes of before would leave at once, and nobody would be there.
 */
function schemaCheck(db: Db): () => Promise<void> {
  let fitted = false;
  return async () => {
    try {
      await checkSchema(db);
      fitted = true;
    } catch (error) {
      const outgrown = error instanceof StartupFailure && !(error instanceof ReadOnlyFailure);
      if (!fitted || !outgrown) throw error;
    }
  };
}

/** In public words: `/readyz` answers anyone. */
function reasonOf(error: unknown): string {
  if (error instanceof ReadOnlyFailure) return 'The database is read-only.';
  return error instanceof StartupFailure
    ? 'The schema of the database is not the one of this version.'
    : 'The database does not answer.';
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Sent by proxies. What one hands on comes from elsewhere, though its connection may come from this machine. */
const forwarding = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/** By the connection itself: what `trustedProxies` makes of it, a header could have made. */
export function isLocal({ socket, headers }: Pick<FastifyRequest, 'socket' | 'headers'>): boolean {
  if (forwarding.some((name) => headers[name] !== undefined)) return false;
  const peer = socket.remoteAddress ?? '';
  return peer !== '' && loopback.check(peer, isIPv6(peer) ? 'ipv6' : 'ipv4');
}

function bears({ headers }: FastifyRequest, token: string | null): boolean {
  const given = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (token === null || given === undefined) return false;
  // Hashed, so that both are of one length.
  return timingSafeEqual(sha256(given), sha256(token));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
