import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { CallFailure } from '../core/failure.ts';
import { ReadOnlyFailure, StartupFailure } from '../core/startup-failure.ts';
import { readinessMsMax } from '../db/connections.ts';
import type { Db } from '../db/database.ts';
import {
  isDiskFull,
  isOtherSchema,
  isReadOnly,
  isStatementError,
  isUnavailable,
} from '../db/database-error.ts';
import { checkSchema } from '../db/migrations/migrate.ts';
import { probeAdmission } from '../engine/admit/probe-admission.ts';
import { getHealth, getMetrics, getOpenapi, getReadiness } from '../http/contract/system.ts';
import { peerAddress, rangeMatcher } from '../http/request/caller-address.ts';
import { errorResponse } from '../http/response/error-response.ts';
import { routePath, send } from '../http/route.ts';
import { cached, withTimeout } from '../http/ttl-cache.ts';
import type { Metrics } from './metrics.ts';

export interface SystemDeps {
  /** A connection for the readiness check alone, so that nothing else delays it. */
  readonly db: Db;
  readonly metrics: Pick<Metrics, 'contentType' | 'text'>;
  /** The token that remote requests for `/metrics` require; null rejects them all. */
  readonly metricsToken: string | null;
  /** Whether the process is shutting down. */
  readonly draining: () => boolean;
  /** How long the result of the readiness check is reused, in milliseconds. Default: one second. */
  readonly readinessCachedMs?: number;
  /** A check that takes longer fails. Default: two seconds. */
  readonly readinessMsMax?: number;
  /** False in a worker process without a lease, which cannot claim executions. */
  readonly leased: () => boolean;
}

/** Probes and scrapes must get a response from an overloaded process. Concurrent ones share one read of the database. */
const probe = { config: { servedUnderOverload: true } } as const;

const readinessCachedMs = 1_000;

/** Health, readiness and metrics of every process, workers included. */
export function systemRoutes(app: FastifyInstance, deps: SystemDeps): void {
  const checkCompatible = createSchemaCheck(deps.db);
  const check = async () => {
    await checkCompatible();
    await probeAdmission(deps.db);
  };
  const readUnreadiness = cached(
    () =>
      withTimeout(check(), deps.readinessMsMax ?? readinessMsMax).then(
        () => null,
        (error: unknown) => {
          app.log.warn({ err: error }, 'readiness check failed');
          return publicReason(error);
        },
      ),
    deps.readinessCachedMs ?? readinessCachedMs,
  );

  const missingLease = () => (deps.leased() ? null : 'The process has no lease.');

  app.get(routePath(getHealth), probe, (_request, reply) => {
    send(reply, { status: 200, body: { status: 'ok' } });
  });

  app.get(routePath(getReadiness), probe, async (request, reply) => {
    const reason = deps.draining()
      ? 'The process is draining.'
      : ((await readUnreadiness()) ?? missingLease());
    if (reason === null) send(reply, { status: 200, body: { status: 'ready' } });
    else send(reply, errorResponse(new CallFailure('UNAVAILABLE', reason), request.id));
    return reply;
  });

  app.get(routePath(getMetrics), probe, async (request, reply) => {
    if (isLocal(request) || hasToken(request, deps.metricsToken)) {
      return reply.type(deps.metrics.contentType).send(await deps.metrics.text());
    }
    send(reply, errorResponse(new CallFailure('UNAUTHORIZED', remoteMetrics), request.id));
    return reply;
  });
}

const openapiFile = join(import.meta.dirname, '../../docs/openapi.json');

/** The OpenAPI document, read and compressed at the first request for it: as plain text it is half a megabyte. */
export function openapiRoute(app: FastifyInstance, version: string): void {
  let made: { readonly json: string; readonly gzipped: Buffer } | null = null;
  const document = () => {
    if (made) return made;
    const document = JSON.parse(readFileSync(openapiFile, 'utf8'));
    document.info.version = version;
    document.servers[0].url = app.basePath || '/';
    const json = JSON.stringify(document);
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

const remoteMetrics =
  'Metrics are available on loopback, under a loopback host name. Other requests require CUELINE_METRICS_TOKEN as bearer token.';

/**
 * Throws unless the schema matches this version. A newer schema is accepted if it matched before: in a rolling upgrade, the
 * migration would otherwise make all old processes unready at once.
 */
function createSchemaCheck(db: Db): () => Promise<void> {
  let matched = false;
  return async () => {
    try {
      await checkSchema(db);
      matched = true;
    } catch (error) {
      const isNewer = error instanceof StartupFailure && !(error instanceof ReadOnlyFailure);
      if (!matched || !isNewer) throw error;
    }
  };
}

/** A reason without internals, because `/readyz` is public. */
function publicReason(error: unknown): string {
  if (error instanceof ReadOnlyFailure || isReadOnly(error)) return 'The database is read-only.';
  if (error instanceof StartupFailure || isOtherSchema(error)) {
    return 'The database schema does not match this version.';
  }
  if (isDiskFull(error)) return 'The disk of the database is full.';
  return isStatementError(error) && !isUnavailable(error)
    ? 'The database rejects the writes that accept an execution.'
    : 'The database does not respond.';
}

const isLoopback = rangeMatcher(['127.0.0.0/8', '::1']);
const loopbackHost = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;

/** Headers of proxies. A forwarded request is remote, even if the proxy connects from this machine. */
const forwardingHeader =
  /^(forwarded|x-forwarded(-.+)?|x-original-.+|x-real-ip|(x-|x-cluster-|true-|fastly-)client-ip|cf-.+|cdn-loop|via)$/;

/**
 * Whether a client on this machine sent the request. Checks the address of the connection, because a header can forge the
 * one that `trustedProxies` derives; and the `Host`, because some proxies on this machine add no header but pass it on.
 */
export function isLocal(request: Pick<FastifyRequest, 'socket' | 'headers'>): boolean {
  const { headers } = request;
  if (Object.keys(headers).some((name) => forwardingHeader.test(name))) return false;
  return isLoopback(peerAddress(request) ?? '') && loopbackHost.test(headers.host ?? '');
}

function hasToken({ headers }: FastifyRequest, token: string | null): boolean {
  const sent = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (token === null || sent === undefined) return false;
  // Hashed, because `timingSafeEqual` requires equal lengths.
  return timingSafeEqual(sha256(sent), sha256(token));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
