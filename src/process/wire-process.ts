import type { FastifyInstance } from 'fastify';
import { openConnections } from '../db/connections.ts';
import { openNotifications } from '../db/notifications.ts';
import type { Worker } from '../engine/run/worker.ts';
import { markKeysUsed } from '../features/people/statements/callers.ts';
import { KeyUse } from '../features/people/verbs/key-use.ts';
import { closeWithin, GracefulShutdown } from '../http/connection/graceful-shutdown.ts';
import * as limits from '../http/contract/contract-limits.ts';
import { createMailer } from '../net/mailer.ts';
import { createApp } from './app.ts';
import { startBackground } from './background.ts';
import { backgroundFailures } from './background-failures.ts';
import { createEngine } from './engine.ts';
import { openStandby } from './open-standby.ts';
import type { WiringDeps } from './wiring-deps.ts';

/**
 * Builds one process from its configuration: the engine, and on it the API, the worker or both. The program and the
 * tests use the same wiring.
 */
export interface Wiring {
  /** Null in a process that only serves the API. */
  readonly worker: Worker | null;
  /** The API. In a pure worker process, only its health and metrics. */
  readonly app: FastifyInstance;
  /** Shuts down in the order of the data: refuse new work, finish accepted work, write what is pending. */
  drain(timeoutMs: number): Promise<void>;
}

/** For requests whose body is incomplete when the process shuts down. */
const unfinishedRequestsMs = 5_000;

export async function wire(deps: WiringDeps): Promise<Wiring> {
  const { connection, config, db } = deps;
  const failures = backgroundFailures(deps.logger);
  const mailer = config.smtp && createMailer(config.smtp);
  const connections = openConnections({
    connection,
    leaseMs: config.leaseMs,
    exportsMax: limits.exportsMax,
    historyReadsMax: limits.historyReadsMax,
    ...(deps.readinessMsMax !== undefined && { readinessMsMax: deps.readinessMsMax }),
    onError: failures.reporter('database connection lost'),
  });
  const onError = failures.reporter('notifications unavailable');
  const notifications = openNotifications({ db, connection, onError });
  const engine = createEngine(deps, connections, notifications, failures);
  const standby = openStandby(deps, failures.reporter('standby unavailable'));
  const { worker, finisher, workflows, admission, batches, events } = engine;
  await worker?.start();
  const background = worker ? startBackground(deps, engine, failures, mailer) : null;
  const keyUse = new KeyUse({
    touch: (hashes) => markKeysUsed(db, hashes),
    onError: failures.reporter('key usage update failed'),
  });
  const shutdown = new GracefulShutdown();
  const server = createApp(deps, engine, { keyUse, mailer, standby }, shutdown);
  const { app } = server;

  return {
    worker,
    app,
    async drain(timeoutMs) {
      server.draining = true;
      // Before the lease ends. What is due later is sent by another process, or after the next start.
      await events?.sender.stop();
      await batches?.stop();
      // The API keeps responding while executions end. Waiting callers get their result.
      await worker?.drain(timeoutMs);
      engine.waiters.close();
      engine.streams.close();
      await shutdown.shutDown(app.server, timeoutMs);
      await closeWithin(app, unfinishedRequestsMs);
      await background?.stopSweeps();
      // The end of one step makes others ready, and those are admitted.
      await finisher.idle();
      await workflows.idle();
      await admission.idle();
      await background?.stopMaintenance();
      await finisher.idle();
      await keyUse.close();
      await engine.providerHealth.idle();
      await events?.close();
      mailer?.close();
      await notifications.close();
      failures.close();
      await standby?.close();
      await engine.compute.close();
      await connections.close();
    },
  };
}
