import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { hashPassword } from '../../api/access/session.ts';
import { deriveSealKey } from '../../core/seal.ts';
import { StartupFailure } from '../../core/startup-failure.ts';
import { bootstrapWorkspace } from '../../flow/workspace/bootstrap-workspace.ts';
import { createDemo, type Demo } from '../../flow/workspace/create-demo.ts';
import { createCredentials } from '../../flow/workspace/credentials.ts';
import { createModels } from '../../provider/registry.ts';
import { type Role, type WiringDeps, wire } from '../../wiring.ts';
import type { Context } from '../command.ts';
import { version } from '../version.ts';
import { banner, shownOnce } from './banner.ts';
import { openForServer } from './open-database.ts';
import { told } from './process-lifetime.ts';
import { finishRotation } from './secrets.ts';

/** A process that serves, from the database to the banner, until it is told to end. */
export async function serve(context: Context, role: Role): Promise<void> {
  const { life, log } = context;
  try {
    await begin(context, role);
  } catch (error) {
    if (!life.ending.aborted) throw error;
    log.info('The start was given up');
  }
  // A process that serves is meant to be told to end: that is its success, even before it was up.
  await told(life);
}

async function begin(context: Context, role: Role): Promise<void> {
  const { config } = context;
  const opened = await openForServer(context);
  const database = { ...opened, secret: await finishRotation(context, opened) };
  const { db } = database;
  const first = await bootstrapWorkspace(db, {
    ownerEmail: config.owner.email,
    ownerPassword: config.owner.password,
    hashPassword,
  });
  const owner = first.created ? first : null;
  let demo: Demo | null = null;
  try {
    if (first.created) demo = await createDemo(db, first.workspaceId, first.ownerId);
    const url = await bringUp(context, role, database);
    console.log(banner({ role, url, place: database.place, owner, demo }));
  } catch (error) {
    // They are there from now on, and the next start does not know them.
    const lost = shownOnce({ owner, demo });
    if (lost.length > 0) console.log(['', 'Made by this start:', '', ...lost, ''].join('\n'));
    throw error;
  }
}

/** Answers where it listens; null for a worker without a port. */
async function bringUp(
  context: Context,
  role: Role,
  { connection, db, secret }: Awaited<ReturnType<typeof openForServer>>,
): Promise<string | null> {
  const { config, life, log } = context;
  const { models, providers, testConnection } = await openModels(context, secret);
  const wiring = await wire({
    role,
    connection,
    db,
    secret,
    models,
    providers,
    testConnection,
    version,
    logger: log,
    config,
  });
  life.closers.defer(() => wiring.drain(config.drainMs));
  life.ending.throwIfAborted();
  const listens = role !== 'worker' || config.portGiven;
  return listens ? listen(wiring.app, context) : null;
}

/** The models of every provider that is configured, traced where traces are wanted. */
async function openModels(
  { config, life, log }: Context,
  secret: string,
): Promise<Pick<WiringDeps, 'models' | 'providers' | 'testConnection'>> {
  const models = createModels({
    open: createCredentials({
      sealKey: deriveSealKey(secret),
      onUnreadable: (provider) =>
        log.error(provider, 'A stored credential does not open: CUELINE_SECRET has changed'),
    }),
    env: config.providerEnv,
    callsMax: config.providerCalls,
    allowedHosts: config.allowedHosts,
  });
  life.closers.defer(() => models.close());
  const { states: providers, testConnection } = models;
  if (config.otlpEndpoint === null) return { models, providers, testConnection };
  const { withTracing } = await import('../../provider/with-tracing.ts');
  const spans = await withTracing(models, {
    ...{ endpoint: config.otlpEndpoint, serviceName: 'cueline', serviceVersion: version },
    onError: (err) => log.warn({ err }, 'Traces were not delivered'),
  });
  life.closers.defer(() => spans.shutdown());
  return { models: spans, providers, testConnection };
}

/** Where it can be reached from this machine, unless it is known under another name. */
async function listen(app: FastifyInstance, { config }: Context): Promise<string> {
  const { host, port, publicUrl } = config;
  try {
    await app.listen({ host, port });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why: Record<string, string> = {
      EADDRINUSE: `port ${port} of ${host} is taken; set PORT to another`,
      EACCES: `port ${port} needs rights that this user does not have; set PORT to another`,
      EADDRNOTAVAIL: `this machine has no address ${host}; set HOST to one it has`,
    };
    throw new StartupFailure(`The server cannot listen: ${why[code ?? ''] ?? message}.`);
  }
  const bound = (app.server.address() as AddressInfo).port;
  const everywhere = ['0.0.0.0', '::'].includes(host);
  const name = everywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return publicUrl ?? `http://${name}:${bound}`;
}
