import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { createMetrics, type Gauges, type Metrics } from '../../src/api/http/metrics.ts';
import { openapiRoute, type SystemDeps, systemRoutes } from '../../src/api/routes/system/system.ts';
import { type Db, openDatabase } from '../../src/store/connection/database.ts';

/** The system routes alone on a socket, as a process that only works serves them. */
export interface SystemApp {
  readonly url: string;
  readonly metrics: Metrics;
  close(): Promise<void>;
}

export const still: Gauges = {
  running: () => 0,
  queue: async () => ({ depth: 0, oldestMs: 0 }),
  providers: () => new Map(),
};

/** Where no PostgreSQL is. */
export function nowhere(): Db {
  return openDatabase({ connection: { host: '127.0.0.1', port: 1 }, poolMax: 1, onError() {} });
}

export async function startSystemApp(parts: Partial<SystemDeps> = {}): Promise<SystemApp> {
  const app: FastifyInstance = Fastify({ genReqId: () => 'req_test' });
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  const metrics = createMetrics(still);
  const own = parts.db ? null : nowhere();
  systemRoutes(app, {
    ...{ db: own as Db, metrics, metricsToken: null, draining: () => false, leased: () => true },
    ...parts,
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
