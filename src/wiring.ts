import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type pg from 'pg';
import { createAuthenticator } from './api/authenticate.ts';
import type { ApiParts } from './api/parts.ts';
import { createServer } from './api/server.ts';
import { createSessions, type SessionParts } from './api/session.ts';
import type { RateLimits } from './core/limits.ts';
import type { ModelPort } from './core/model.ts';
import { createAdmission } from './flow/admit.ts';
import { createCanceler } from './flow/cancel.ts';
import { createFinisher } from './flow/finish.ts';
import { templateCache } from './flow/run.ts';
import { createWaiters } from './flow/wait.ts';
import { openBus } from './store/bus.ts';
import type { Db } from './store/db.ts';
import { findEnded } from './store/executions.ts';
import { maintain } from './store/maintenance.ts';
import { openPipelines } from './store/pipeline.ts';
import { readTemplate } from './store/templates.ts';
import { keepHouse } from './worker/maintenance.ts';
import { createWorker, type Worker } from './worker/worker.ts';

/**
 * One process, put together: the engine, with the API, the worker or both on it. `main` and the tests wire the same
 * way. The order of the end is the order of the data: nothing new comes in, what came in is carried out, what was
 * carried out is written.
 */
export interface Wiring {
  readonly worker: Worker | null;
  /** Present where the process serves the API. */
  readonly app: FastifyInstance | null;
  drain(timeoutMs: number): Promise<void>;
}

export interface WiringParts
  extends Pick<ApiParts, 'listPerMinute' | 'onKeyUsed' | 'sealKey' | 'checkBaseURL'> {
  readonly role: 'start' | 'api' | 'worker';
  readonly connection: pg.ClientConfig;
  readonly db: Db;
  readonly models: ModelPort;
  readonly session: Pick<SessionParts, 'secret' | 'publicUrl' | 'signIn'>;
  readonly slots: number;
  readonly leaseMs: number;
  readonly testingLimits: RateLimits;
  readonly trustedProxies: readonly string[];
  readonly logger: FastifyBaseLogger;
}

/** A hot statement that takes longer than this counts as unanswered. */
const answerTimeoutMs = 15_000;

export async function wire(parts: WiringParts): Promise<Wiring> {
  const { connection, db, logger, role } = parts;
  const onError = (error: unknown, what: string) => logger.warn({ err: error }, `${what} failed`);
  const pipelines = openPipelines({
    connection,
    answerTimeoutMs,
    onError: (error) => onError(error, 'connection'),
  });
  const bus = openBus({ db, connection, onError: (error) => onError(error, 'bus') });
  const waiters = createWaiters({
    findEnded: (ids) => findEnded(db, ids),
    onError: (error) => onError(error, 'wait'),
  });
  bus.subscribe('cueline_ended', waiters.ended);

  const onQueued = () => {
    worker?.wake();
    bus.publish('cueline_queued');
  };
  const finisher = createFinisher({
    pipelines,
    onEnded: ({ id }) => {
      waiters.ended([id]);
      bus.publish('cueline_ended', [id]);
    },
    onQueued,
  });

  const leasePipelines = openPipelines({
    connection,
    answerTimeoutMs: parts.leaseMs / 2,
    onError: (error) => onError(error, 'lease connection'),
  });
  const worker =
    role === 'api'
      ? null
      : createWorker({
          db,
          leasePipelines,
          finisher,
          models: parts.models,
          template: templateCache((id) => readTemplate(db, id)),
          slots: parts.slots,
          leaseMs: parts.leaseMs,
          onError,
          onFault: (error, run) => logger.error({ err: error, executionId: run.id }, 'run fault'),
        });
  if (worker) {
    bus.subscribe('cueline_queued', worker.wake);
    bus.subscribe('cueline_canceled', worker.cancel);
    await worker.start();
  }
  const house = worker && keepHouse({ maintain: () => maintain(db), onError });

  const admission = createAdmission({
    db,
    pipelines,
    testingLimits: parts.testingLimits,
    slots: worker?.slots ?? null,
    onQueued,
  });
  const canceler = createCanceler({
    db,
    finisher,
    onCanceled: (id) => {
      worker?.cancel([id]);
      bus.publish('cueline_canceled', [id]);
    },
  });
  const sessions = role === 'worker' ? null : createSessions({ ...parts.session, db, logger });
  const app =
    sessions &&
    createServer(
      {
        db,
        admission,
        canceler,
        waiters,
        authenticator: createAuthenticator({
          db,
          session: sessions.caller,
          onKeyUsed: parts.onKeyUsed,
        }),
        sessions,
        checkSameOrigin: sessions.checkSameOrigin,
        onKeyUsed: parts.onKeyUsed,
        listPerMinute: parts.listPerMinute,
        sealKey: parts.sealKey,
        checkBaseURL: parts.checkBaseURL,
      },
      { logger, trustedProxies: parts.trustedProxies },
    );

  return {
    worker,
    app,
    async drain(timeoutMs) {
      waiters.close();
      await app?.close();
      await admission.idle();
      await house?.stop();
      await worker?.drain(timeoutMs);
      await finisher.idle();
      await bus.close();
      await Promise.all([pipelines.close(), leasePipelines.close()]);
    },
  };
}
