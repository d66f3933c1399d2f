import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { proxyEnv, usesProxy } from '../../core/proxy-settings.ts';
import { deriveSealKey } from '../../core/seal.ts';
import { StartupFailure } from '../../core/startup-failure.ts';
import { hashPassword } from '../../features/people/access/session.ts';
import { createCredentials } from '../../features/providers/verbs/credentials.ts';
import { demoModel } from '../../models/connection/environment.ts';
import { createPriceLookup } from '../../models/price-lookup.ts';
import { createModels } from '../../models/registry.ts';
import { bootstrapWorkspace } from '../../process/setup/bootstrap-workspace.ts';
import { createDemo, type Demo } from '../../process/setup/create-demo.ts';
import { verifySecret } from '../../process/setup/reseal.ts';
import { wire } from '../../process/wire-process.ts';
import type { Role, WiringDeps } from '../../process/wiring-deps.ts';
import type { Context } from '../command.ts';
import { untilStopping } from '../process-lifetime.ts';
import { version } from '../version.ts';
import { banner, createdLines } from './banner.ts';
import { openForServer, openStandbys } from './open-database.ts';
import { finishRotation } from './secrets.ts';

/** Runs a server process until a shutdown is requested. */
export async function serve(context: Context, role: Role): Promise<void> {
  const { lifetime, log } = context;
  try {
    await start(context, role);
  } catch (error) {
    if (!lifetime.stopping.aborted) throw error;
    log.info('startup canceled');
  }
  // A shutdown request is a success for a server, even during startup.
  await untilStopping(lifetime);
}

async function start(context: Context, role: Role): Promise<void> {
  const { config } = context;
  const opened = await openForServer(context);
  const database = { ...opened, secret: await finishRotation(context, opened) };
  const { db } = database;
  const sealKey = deriveSealKey(database.secret);
  await verifySecret(db, sealKey);
  const bootstrapped = await bootstrapWorkspace(db, {
    ownerEmail: config.owner.email,
    ownerPassword: config.owner.password,
    hashPassword,
  });
  const owner = bootstrapped.created ? bootstrapped : null;
  let demo: Demo | null = null;
  try {
    if (bootstrapped.created) {
      const realModel = demoModel(config.providerEnv);
      demo = await createDemo(db, bootstrapped, { realModel, sealKey });
    }
    const url = await startServing(context, role, database);
    console.log(banner({ role, url, place: database.place, owner, demo }));
  } catch (error) {
    // These credentials exist now, and no later start can print them.
    const credentials = createdLines({ owner, demo });
    if (credentials.length > 0)
      console.log(['', 'Created by this start:', '', ...credentials, ''].join('\n'));
    throw error;
  }
}

/** Returns the URL of the server. `null` for a worker without a port. */
async function startServing(
  context: Context,
  role: Role,
  { connection, db, secret }: Awaited<ReturnType<typeof openForServer>>,
): Promise<string | null> {
  const { config, lifetime, log } = context;
  // For `fetch`, which sign-in uses to reach identity providers. Older versions of Node have no such function.
  if (usesProxy(config.proxies)) http.setGlobalProxyFromEnv?.(proxyEnv(config.proxies));
  const opened = await openModels(context, secret);
  const wiring = await wire({
    role,
    connection,
    readConnection: role === 'worker' ? null : await openStandbys(context),
    db,
    secret,
    ...opened,
    version,
    logger: log,
    config,
  });
  lifetime.closers.defer(() => wiring.drain(config.drainMs));
  lifetime.stopping.throwIfAborted();
  const listens = role !== 'worker' || config.portGiven;
  return listens ? listen(wiring.app, context) : null;
}

/** Creates the models of all providers, with tracing if it is configured. */
async function openModels(
  { config, lifetime, log }: Context,
  secret: string,
): Promise<Pick<WiringDeps, 'models' | 'prices' | 'providers' | 'testConnection' | 'directory'>> {
  const options = {
    open: createCredentials({
      sealKey: deriveSealKey(secret),
      onUnreadable: (provider) =>
        log.error(
          { ...provider, reason: 'CUELINE_SECRET has changed' },
          'provider credential unreadable',
        ),
    }),
    env: config.providerEnv,
    callsMax: config.providerCalls,
    allowedHosts: config.allowedHosts,
    chainWorkspaces: config.chainWorkspaces,
    proxies: config.proxies,
  };
  const models = createModels(options);
  lifetime.closers.defer(() => models.close());
  const { states: providers, testConnection } = models;
  const prices = createPriceLookup(options);
  const more = { prices, providers, testConnection, directory: models };
  if (config.otlpEndpoint === null) return { models, ...more };
  const { withTracing } = await import('../../models/with-tracing.ts');
  const spans = await withTracing(models, {
    endpoint: config.otlpEndpoint,
    serviceName: 'cueline',
    serviceVersion: version,
    proxies: config.proxies,
    onError: (err) => log.warn({ err }, 'trace export failed'),
  });
  lifetime.closers.defer(() => spans.shutdown());
  return { models: spans, ...more };
}

/**
 * Connections that wait to be accepted. Beyond it the system drops them, and their clients try again after a second; its own
 * limit is often 4,096.
 */
const backlog = 4_096;

/** Listens, and returns the public URL or the local one. */
async function listen(app: FastifyInstance, { config }: Context): Promise<string> {
  const { host, port, publicUrl } = config;
  try {
    await app.listen({ host, port, backlog });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reasons: Record<string, string> = {
      EADDRINUSE: `port ${port} of ${host} is in use; set PORT to another one`,
      EACCES: `port ${port} requires privileges; set PORT to another one`,
      EADDRNOTAVAIL: `this machine has no address ${host}; set HOST to one of its addresses`,
    };
    throw new StartupFailure(`Cannot listen: ${reasons[code ?? ''] ?? message}.`);
  }
  const bound = (app.server.address() as AddressInfo).port;
  const everywhere = ['0.0.0.0', '::'].includes(host);
  const name = everywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return publicUrl ?? `http://${name}:${bound}`;
}
