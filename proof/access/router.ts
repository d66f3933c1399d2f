import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { sessionPaths } from '../../src/api/access/session-paths.ts';
import { readConfig } from '../../src/config.ts';
import { pageSegments } from '../../src/core/public-url.ts';
import { wire } from '../../src/wiring.ts';
import type { ProofEnvironment } from '../environment.ts';
import type { Row } from './table.ts';

/** Every route of the service as it is wired, by what the router itself is told. */

interface Route {
  readonly method: string;
  /** In the style of the table: `/agents/{agentId}`. */
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
    ...{ role: 'api', connection, db, secret: 'of no consequence here', version: '0.0.0' },
    models: { call: () => Promise.reject(new Error('no model is called here')) },
    testConnection: () => Promise.reject(new Error('no provider is called here')),
    logger: pino({ level: 'silent' }),
    config: readConfig({}),
  }).finally(() => unsubscribe('fastify.initialization', note));
  await drain(0);
  // The dashboard's page and files are the same for anyone: they hold nothing of any workspace.
  const page = new RegExp(`^/(${pageSegments.join('|')}|assets)?(/\\*)?$`);
  // What is open below this path is a list of its own.
  const open = Object.entries(sessionPaths);
  const calls = routes.filter(({ path }) => !page.test(path));
  return [...calls, ...open.map(([path, { method }]) => ({ method, path: `/api/auth${path}` }))];
}

/** In words, what of the router is not in the table, and what of the table is not in the router. */
export function uncovered(routes: readonly Route[], rows: readonly Row[]): string[] {
  const name = ({ method, path }: Route) => `${method} ${path}`;
  const routed = new Set(routes.map(name));
  const written = new Set(rows.map(name));
  return [
    ...[...routed]
      .filter((one) => !written.has(one) && !written.has(one.replace(/^HEAD/, 'GET')))
      .map((one) => `${one} is routed, but not in proof/access/table.csv`),
    ...[...written]
      .filter((one) => !routed.has(one))
      .map((one) => `${one} is in proof/access/table.csv, but not routed`),
  ];
}
