import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { type Db, openDatabase } from '../src/db/database.ts';
import { createMetrics, type Gauges, type Metrics } from '../src/process/metrics.ts';
import { openapiRoute, type SystemDeps, systemRoutes } from '../src/process/system-routes.ts';

/** The system routes on a socket, as in a worker process. */
export interface SystemApp {
  readonly url: string;
  readonly metrics: Metrics;
  close(): Promise<void>;
}

export const idleGauges: Gauges = {
  running: () => 0,
  streamBytes: () => 0,
  pausedStreams: () => 0,
  executionBytes: () => 0,
  pausedExecutions: () => 0,
  bodyBytes: { used: 0, refusals: 0 },
  queue: async () => ({ depth: 0, oldestMs: 0 }),
  searchLag: async () => 0,
  foldLag: async () => 0,
  events: async () => ({ pending: 0, disabled: 0 }),
  shares: [],
  waitingLines: async () => 0,
  providers: () => new Map(),
};

/** A database whose address has no PostgreSQL. */
export function unreachableDb(): Db {
  return openDatabase({ connection: { host: '127.0.0.1', port: 1 }, poolMax: 1, onError() {} });
}

export async function startSystemApp(deps: Partial<SystemDeps> = {}): Promise<SystemApp> {
  const app: FastifyInstance = Fastify({ genReqId: () => 'req_test' });
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  const metrics = createMetrics(idleGauges);
  const own = deps.db ? null : unreachableDb();
  systemRoutes(app, {
    ...{ db: own as Db, metrics, metricsToken: null, draining: () => false, leased: () => true },
    ...deps,
  });
  openapiRoute(app, '1.2.3');
  await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`,
    metrics,
    async close() {
      await app.close();
      await own?.destroy();
    },
  };
}
