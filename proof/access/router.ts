import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import type { Row } from '../../harness/access/table.ts';
import { pageSegments } from '../../src/core/public-url.ts';
import { sessionPaths } from '../../src/features/people/access/session-paths.ts';
import { readConfig } from '../../src/process/config/config.ts';
import { wire } from '../../src/process/wire-process.ts';
import type { ProofEnvironment } from '../environment.ts';

/** Every route of the wired service, as registered with the router. */

interface Route {
  readonly method: string;
  /** In OpenAPI's style: `/agents/{agentId}`. */
  readonly path: string;
}

export async function routesOf({ connection, db }: ProofEnvironment): Promise<Route[]> {
  const routes: Route[] = [];
  const note = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance };
    fastify.addHook('onRoute', ({ method, url }) => {
      const path = url.replace(/:(\w+)/g, '{$1}');
      for (const one of [method].flat()) routes.push({ method: one, path });
    });
  };
  subscribe('fastify.initialization', note);
  const { drain } = await wire({
    ...{ role: 'api', connection, db, secret: 'only lists routes', version: '0.0.0' },
    models: { call: () => Promise.reject(new Error('calls no model')) },
    prices: { rates: () => ({ kind: 'unbounded', reason: 'calls no model', option: null }) },
    testConnection: () => Promise.reject(new Error('calls no provider')),
    directory: {
      environment: [],
      listedPrices: () => [],
      listModels: () => Promise.reject(new Error('calls no provider')),
    },
    logger: pino({ level: 'silent' }),
    config: readConfig({}),
  }).finally(() => unsubscribe('fastify.initialization', note));
  await drain(0);
  // The dashboard's page and files are public: they contain no workspace data.
  const page = new RegExp(`^/(${pageSegments.join('|')}|assets)?(/\\*)?$`);
  const calls = routes.filter(({ path }) => !page.test(path));
  // One wildcard route serves these paths.
  const sessions = Object.entries(sessionPaths).map(([path, { method }]) => ({
    method,
    path: `/api/auth${path}`,
  }));
  return [...calls, ...sessions];
}

/** Routes that are missing from the table, and rows without a route. */
export function uncovered(routes: readonly Route[], rows: readonly Row[]): string[] {
  const name = ({ method, path }: Route) => `${method} ${path}`;
  const routed = new Set(routes.map(name));
  const listed = new Set(rows.map(name));
  return [
    ...[...routed]
      .filter((one) => !listed.has(one) && !listed.has(one.replace(/^HEAD/, 'GET')))
      .map((one) => `${one} is missing from harness/access/table.csv`),
    ...[...listed.difference(routed)].map(
      (one) => `${one} in harness/access/table.csv is not a route`,
    ),
  ];
}
