import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { createAuthenticator } from '../../src/api/authenticate.ts';
import { createServer } from '../../src/api/server.ts';
import type { SignInProviders } from '../../src/api/session-options.ts';
import type { RateLimits } from '../../src/core/limits.ts';
import type { Role } from '../../src/core/member.ts';
import type { ModelPort } from '../../src/core/model.ts';
import { deriveSealKey } from '../../src/core/seal.ts';
import { createAdmission } from '../../src/flow/admit.ts';
import { createCanceler } from '../../src/flow/cancel.ts';
import { createFinisher } from '../../src/flow/finish.ts';
import { templateCache } from '../../src/flow/run.ts';
import { createWaiters } from '../../src/flow/wait.ts';
import { checkBaseURL } from '../../src/provider/guard.ts';
import { openBus } from '../../src/store/bus.ts';
import { touchKeys } from '../../src/store/callers.ts';
import { type Db, openDatabase } from '../../src/store/db.ts';
import { findEnded } from '../../src/store/executions.ts';
import { openPipelines } from '../../src/store/pipeline.ts';
import { readTemplate } from '../../src/store/templates.ts';
import { createWorker } from '../../src/worker/worker.ts';
import { type Answered, type CallOptions, callOver } from './call.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { type ScriptedModels, scriptedModels } from './models.ts';
import { addKey, addMember, addWorkspace, type KeyOptions, type TestKey } from './people.ts';
import { type SignedIn, sessionsFor, signIn, standIn } from './sessions.ts';

/**
 * The whole service in this process, on a socket and a database of its own, with one workspace and its owner.
 *
 *     const service = await startService();
 *     after(service.close);
 *     const { key } = await service.key();
 *     const { status, body } = await service.call('GET', '/api/v1/agents', { key });
 */
export interface Service {
  readonly url: string;
  readonly db: Db;
  readonly database: TestDatabase;
  /** Stored ids. */
  readonly workspaceId: string;
  readonly ownerId: string;
  /** The fake models that are used where `models` is not given. */
  readonly models: ScriptedModels;
  /** What was logged as a fault. A test that provokes some takes them out: `close` fails over what is left. */
  readonly faults: unknown[];
  /** Issues a key, by default the owner's own with every permission. */
  key(
    options?: KeyOptions & { readonly userId?: string; readonly workspaceId?: string },
  ): Promise<TestKey>;
  /** Adds a member, to this workspace unless another is named; answers the stored id of the user. */
  member(role: Role, workspaceId?: string): Promise<string>;
  /** Signs in a new member of that role, an owner unless given, or a user who is there already. */
  signIn(who?: Role | { readonly userId: string }): Promise<SignedIn>;
  /** Another workspace in the same database. */
  workspace(): Promise<{ workspaceId: string; ownerId: string }>;
  /** Makes a call, and holds its answer against the contract. */
  call(method: string, path: string, options?: CallOptions): Promise<Answered>;
  close(): Promise<void>;
}

export interface ServiceOptions {
  readonly models?: ModelPort;
  readonly slots?: number;
  readonly leaseMs?: number;
  readonly testingLimits?: RateLimits;
  readonly listPerMinute?: number;
  readonly publicUrl?: string;
  readonly providers?: Partial<SignInProviders>;
  /** Shares the database of another service, as a second process would; that one ends it. */
  readonly beside?: Service;
}

export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const database = options.beside?.database ?? (await createTestDatabase());
  const faults: unknown[] = [];
  const onError = (error: unknown) => void faults.push(error);
  const { connection } = database;
  const db = openDatabase({ connection, poolMax: 5, onError });
  const owned = options.beside ?? (await addWorkspace(db));
  const { workspaceId, ownerId } = owned;

  const pipelinesOf = (answerTimeoutMs: number) =>
    openPipelines({ connection, answerTimeoutMs, onError });
  const pipelines = pipelinesOf(30_000);
  const leaseMs = options.leaseMs ?? 6_000;
  const leasePipelines = pipelinesOf(leaseMs / 2);
  const bus = openBus({ db, connection, onError });
  const waiters = createWaiters({ findEnded: (ids) => findEnded(db, ids), onError });
  const finisher = createFinisher({
    pipelines,
    onEnded: ({ id }) => {
      waiters.ended([id]);
      bus.publish('cueline_ended', [id]);
    },
    onQueued,
  });
  const models = scriptedModels();
  const worker = createWorker({
    ...{ db, leasePipelines, finisher, leaseMs, onError },
    slots: options.slots ?? 20,
    models: options.models ?? models,
    template: templateCache((id) => readTemplate(db, id)),
    onFault: onError,
  });
  const admission = createAdmission({
    ...{ db, pipelines, slots: worker.slots, onQueued },
    testingLimits: options.testingLimits ?? testingLimits,
  });
  const canceler = createCanceler({
    ...{ db, finisher },
    onCanceled: (id) => {
      worker.cancel([id]);
      bus.publish('cueline_canceled', [id]);
    },
  });
  bus.subscribe('cueline_queued', worker.wake);
  bus.subscribe('cueline_ended', waiters.ended);
  bus.subscribe('cueline_canceled', worker.cancel);

  function onQueued(): void {
    worker.wake();
    bus.publish('cueline_queued');
  }

  let touched = Promise.resolve();
  const onKeyUsed = (hash: Buffer) => {
    touched = touched.then(() => touchKeys(db, [hash])).catch(onError);
  };
  const logger = faultLogger(faults);
  const sessions = sessionsFor({ db, logger, ...options });
  const session = standIn(db, sessions.caller);
  const authenticator = createAuthenticator({ db, onKeyUsed, session });
  const app = createServer(
    {
      ...{ db, admission, canceler, waiters, authenticator, onKeyUsed, sessions },
      checkSameOrigin: sessions.checkSameOrigin,
      listPerMinute: options.listPerMinute ?? 300,
      sealKey,
      checkBaseURL: (baseURL) => checkBaseURL(baseURL, [allowedHost], async () => []),
    },
    { logger, trustedProxies: [] },
  );
  await worker.start();
  await app.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;

  return {
    ...{ url, db, database, workspaceId, ownerId, models, faults },
    key: ({ userId = ownerId, workspaceId: other = workspaceId, ...rest } = {}) =>
      addKey(db, { workspaceId: other, userId }, rest),
    member: (role, other = workspaceId) => addMember(db, other, role),
    signIn: async (who = 'owner') =>
      signIn(
        { db, url },
        typeof who === 'string' ? await addMember(db, workspaceId, who) : who.userId,
      ),
    workspace: () => addWorkspace(db),
    call: (method, path, callOptions) => callOver(url, method, path, callOptions),
    async close() {
      await app.close();
      waiters.close();
      await worker.drain(0);
      await Promise.all([admission.idle(), finisher.idle(), touched]);
      await bus.close();
      await Promise.all([pipelines.close(), leasePipelines.close(), db.destroy()]);
      if (!options.beside) await database.drop();
      assert.deepEqual(faults, [], 'faults that no test expected');
    },
  };
}

/** What stored credentials are sealed with. */
export const sealKey = deriveSealKey('test');
/** The private host that a provider may have. No name is looked up: whatever is not private by itself passes. */
export const allowedHost = '127.0.0.1:9000';

/** Those of the contract. */
const testingLimits = { requestsPerMinute: 10, requestsPerHour: 500, requestsPerDay: 10_000 };

function faultLogger(faults: unknown[]) {
  const write = (line: string) => void faults.push(JSON.parse(line));
  return pino({ level: 'error' }, { write });
}
