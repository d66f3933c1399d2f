import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import type { ModelPort, ProviderDirectory, TestConnection } from '../src/core/model/model-port.ts';
import type { Role } from '../src/core/people/member.ts';
import { deriveSealKey } from '../src/core/seal.ts';
import type { ToolPort } from '../src/core/tools/tool-port.ts';
import type { Connection } from '../src/db/connection.ts';
import { type Db, openDatabase } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { createAuthenticator } from '../src/features/people/access/authenticate.ts';
import type { SignInProviders } from '../src/features/people/access/session-options.ts';
import { createCredentials } from '../src/features/providers/verbs/credentials.ts';
import { type ServerLimits, serverLimits } from '../src/http/connection/slow-readers.ts';
import { createPriceLookup } from '../src/models/price-lookup.ts';
import { checkBaseURL, checkEndpointURL } from '../src/net/guard.ts';
import type { AllDeps } from '../src/process/all-routes.ts';
import { type Config, readConfig } from '../src/process/config/config.ts';
import { wire } from '../src/process/wire-process.ts';
import type { WiringDeps } from '../src/process/wiring-deps.ts';
import { type ApiResponse, type CallOptions, callInside, callOver } from './call.ts';
import { createTestDatabase, statementMsMax, type TestDatabase } from './database.ts';
import { type ScriptedModels, scriptedModels } from './models.ts';
import { addKey, addMember, addWorkspace, type KeyOptions, type TestKey } from './people.ts';
import { memberSessionOf, type SignedIn, sessionCreator, signIn } from './sessions.ts';

/**
 * The whole service in this process, with its own socket and database, one workspace and its owner.
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
  /** The scripted models, unless `models` is given. */
  readonly models: ScriptedModels;
  /** Faults in the log. A test that provokes some removes them, because `close` fails if any are left. */
  readonly faults: unknown[];
  /** The workflow engine without the API. */
  readonly workflows: Pick<AllDeps, 'workflowStarter' | 'workflowCanceler' | 'waiters'>;
  /** Issues a key, by default the owner's with every permission. */
  key(
    options?: KeyOptions & { readonly userId?: string; readonly workspaceId?: string },
  ): Promise<TestKey>;
  /** Adds a member to this workspace or to another; returns the stored id of the user. */
  member(role: Role, workspaceId?: string): Promise<string>;
  /** Signs in a new member with that role (default: owner), or an existing user. */
  signIn(who?: Role | { readonly userId: string }): Promise<SignedIn>;
  /** The same without the sign-in itself, for tests that need only the session. */
  openSession(who?: Role | { readonly userId: string }): Promise<SignedIn>;
  /** Creates another workspace in the same database. */
  workspace(): Promise<{ workspaceId: string; ownerId: string }>;
  /**
   * Makes a call, without a socket if its body is JSON, and checks the response against the OpenAPI document. Tests
   * of connections use `callOver`.
   */
  call(method: string, path: string, options?: CallOptions): Promise<ApiResponse>;
  close(): Promise<void>;
}

export interface ServiceOptions {
  readonly models?: ModelPort;
  /** The result of testing a provider's connection; success by default. */
  readonly testConnection?: TestConnection;
  /** None by default. */
  readonly tools?: ToolPort;
  /** No providers in the environment and no models by default. */
  readonly directory?: ProviderDirectory;
  /** `api` if separate worker processes do the work. */
  readonly role?: 'start' | 'api';
  readonly config?: Partial<Config>;
  readonly publicUrl?: string;
  readonly providers?: Partial<SignInProviders>;
  /** Other numbers of slots that workspaces share. */
  readonly shareLimits?: WiringDeps['shareLimits'];
  /** Shares the database of another service, like a second process. That service drops it. */
  readonly sharedWith?: Service;
  /** How long a request waits for a connection, for tests in which one waits in vain. */
  readonly connectMsMax?: number;
  /** A standby of the database. */
  readonly readConnection?: Connection;
  readonly serverLimits?: Partial<ServerLimits>;
  /** An empty, migrated database other than a new one. */
  readonly database?: TestDatabase;
}

export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const database = options.sharedWith?.database ?? options.database ?? (await createTestDatabase());
  const faults: unknown[] = [];
  let closed = false;
  // The pool does not wait for its connections to close, and dropping the database breaks them.
  const onError = (error: unknown) => void (closed || faults.push(error));
  const { connectMsMax = null } = options;
  const connection = {
    ...database.connection,
    ...(connectMsMax !== null && { connectionTimeoutMillis: connectMsMax }),
  };
  const db = openDatabase({ connection, poolMax: 5, onError, statementMsMax });
  const owned = options.sharedWith ?? (await addWorkspace(db));
  const { workspaceId, ownerId } = owned;
  // Tests start maintenance rounds themselves.
  await sql`update maintenance_jobs set begun_at = 'infinity'`.execute(db);

  const { allowedHosts = [allowedHost] } = options.config ?? {};
  const models = scriptedModels();
  const logger = faultLogger(faults);
  let workflows: Service['workflows'] | undefined;
  const { app, drain } = await wire({
    // A slow machine must not fail a check by accident.
    readinessMsMax: 60_000,
    ...{ role: options.role ?? 'start', connection, db, logger, version: '0.0.0', secret },
    readConnection: options.readConnection ?? null,
    models: options.models ?? models,
    prices: createPriceLookup({
      open: createCredentials({ sealKey, onUnreadable: onError }),
      ...{ env: {}, allowedHosts },
    }),
    testConnection: options.testConnection ?? (async () => {}),
    ...(options.tools && { tools: options.tools }),
    ...(options.shareLimits && { shareLimits: options.shareLimits }),
    directory: options.directory ?? {
      ...{ environment: [], listModels: async () => [], listedPrices: () => [] },
    },
    serverLimits: { ...serverLimits, ...options.serverLimits },
    config: {
      ...readConfig({ CUELINE_ALLOWED_HOSTS: allowedHost }),
      // Longer than a slow machine may pause: losing a lease without a kill counts as a fault.
      ...{ slots: 20, leaseMs: 60_000, publicUrl: options.publicUrl ?? null },
      // A fast machine must not reach it by accident.
      managePerMinute: 1_000_000,
      signIn: { github: null, google: null, oidc: null, ...options.providers },
      ...options.config,
    },
    overrides: ({ sessions, reads, onKeyUsed, workflowStarter, workflowCanceler, waiters }) => {
      workflows = { workflowStarter, workflowCanceler, waiters };
      return {
        authenticator: createAuthenticator({
          reads,
          onKeyUsed,
          session: memberSessionOf(db, sessions.caller),
        }),
        // Without DNS: every address that is not private by itself is accepted.
        checkBaseURL: (baseURL) =>
          checkBaseURL(baseURL, [allowedHost, ...allowedHosts], async () => []),
        checkEndpointURL: (url) => checkEndpointURL(url, allowedHosts, async () => []),
      };
    },
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  if (!workflows) throw new Error('the service was wired without its API');
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const createSession = sessionCreator({
    ...{ db, secret, logger, publicUrl: options.publicUrl ?? null, sendMail: null },
    signIn: { github: null, google: null, oidc: null },
  });
  const userIdOf = async (who: Role | { readonly userId: string }) =>
    typeof who === 'string' ? addMember(db, workspaceId, who) : who.userId;

  return {
    ...{ url, db, database, workspaceId, ownerId, models, faults, workflows },
    key: ({ userId = ownerId, workspaceId: other = workspaceId, ...rest } = {}) =>
      addKey(db, { workspaceId: other, userId }, rest),
    member: (role, other = workspaceId) => addMember(db, other, role),
    signIn: async (who = 'owner') => signIn({ db, url }, await userIdOf(who)),
    openSession: async (who = 'owner') => createSession(await userIdOf(who)),
    workspace: () => addWorkspace(db),
    call(method, path, callOptions) {
      // A body that is not JSON is read as a stream from its connection.
      if (callOptions?.headers?.['content-type']) return callOver(url, method, path, callOptions);
      return callInside(app, url, method, path, callOptions);
    },
    async close() {
      await drain(0);
      closed = true;
      await db.destroy();
      if (!options.sharedWith) await database.drop();
      assert.deepEqual(faults, [], 'unexpected faults');
    },
  };
}

/** Stored credentials are sealed with it. */
/** That of `harness/process.ts`: processes may share the database. */
export const secret = 'a secret that is used only by tests';
export const sealKey = deriveSealKey(secret);
/** The private host that providers may use. */
export const allowedHost = '127.0.0.1:9000';

function faultLogger(faults: unknown[]) {
  const write = (line: string) => {
    const fault = JSON.parse(line);
    // On a busy machine, figures of the database may come late; the next ones follow.
    if (fault.msg !== 'database metrics failed') faults.push(fault);
  };
  return pino({ level: 'warn' }, { write });
}
