import { join } from 'node:path';
import type pg from 'pg';
import { type AgentOptions, addAgent, type TestAgent } from '../harness/agents.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { type FakeProvider, startFakeProvider } from '../harness/fake-provider.ts';
import { addKey, addWorkspace, type KeyOptions, type TestKey } from '../harness/people.ts';
import { type CuelineProcess, spawnCueline } from '../harness/process.ts';
import { type Database, openDatabase } from '../src/db/database.ts';
import type { Fault } from './fault.ts';

/**
 * The environment of a claim: a fresh database, a provider that records every call, and real processes, with the
 * deliberate fault if there is one.
 */
export interface ProofEnvironment {
  /** For processes that a claim starts itself. */
  readonly fault: Fault | null;
  readonly db: Database;
  readonly connection: pg.ClientConfig;
  readonly workspaceId: string;
  readonly ownerId: string;
  /** Reached as `ollama/NAME`; `ollama/after-250` answers after 250 ms. */
  readonly provider: FakeProvider;
  /** Deterministic for a seed, except for the scheduling by the operating system. */
  readonly random: () => number;
  /** The `CUELINE_LEASE_MS` for claims that measure leases; short by default. */
  readonly leaseMs: number;
  /** The environment kills the process at its end. `through` replaces the database connection. */
  spawn(
    role: 'start' | 'api' | 'worker',
    env?: Record<string, string>,
    through?: pg.ClientConfig,
  ): Promise<CuelineProcess>;
  /** Without limits by default. */
  key(options?: KeyOptions & { workspaceId?: string; userId?: string }): Promise<TestKey>;
  agent(options?: AgentOptions): Promise<TestAgent>;
  /** The processes that exited without a signal. */
  deaths(): readonly string[];
  close(): Promise<void>;
}

export interface EnvironmentOptions {
  readonly fault: Fault | null;
  readonly seed: number;
  readonly leaseMs?: number;
  /** A fresh one by default. The environment drops it. */
  readonly database?: TestDatabase;
}

/** The shortest lease that the configuration accepts. */
const shortLeaseMs = 600;

const loader = join(import.meta.dirname, 'fault-loader.ts');

export async function openEnvironment({
  fault,
  seed,
  leaseMs = shortLeaseMs,
  database,
}: EnvironmentOptions): Promise<ProofEnvironment> {
  const { connection, drop } = database ?? (await createTestDatabase());
  const db = openDatabase({ connection, poolMax: 10, onError: () => {} });
  const provider = await startFakeProvider();
  const owned = await addWorkspace(db);
  const { workspaceId, ownerId } = owned;
  const processes = new Set<CuelineProcess>();
  const deaths: string[] = [];
  const faulty = fault && { CUELINE_FAULT: JSON.stringify(fault) };
  return {
    fault,
    db,
    connection,
    workspaceId,
    ownerId,
    provider,
    random: randomFrom(seed),
    leaseMs,
    async spawn(role, env = {}, through = connection) {
      const own = {
        OLLAMA_BASE_URL: provider.url,
        CUELINE_LOG_LEVEL: 'fatal',
        ...faulty,
        ...env,
      };
      const spawned = await spawnCueline(role, through, own, faulty ? ['--import', loader] : []);
      processes.add(spawned);
      spawned.child.once('exit', (code, signal) => {
        processes.delete(spawned);
        if (!spawned.child.killed) deaths.push(`a process exited with ${code ?? signal}`);
      });
      return spawned;
    },
    key: ({ workspaceId: other = workspaceId, userId = ownerId, ...rest } = {}) =>
      addKey(db, { workspaceId: other, userId }, { rateLimits: unlimited, ...rest }),
    agent: (options) => addAgent({ db, workspaceId, ownerId }, options),
    deaths: () => deaths,
    async close() {
      await Promise.all([...processes].map((one) => one.kill('SIGKILL')));
      await provider.close();
      await db.destroy();
      await drop();
    },
  };
}

const unlimited = { requestsPerMinute: null, requestsPerHour: null, requestsPerDay: null };

export function shuffle<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}

/** Mulberry32: 32 bits of state are enough to choose victims and moments. */
function randomFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
