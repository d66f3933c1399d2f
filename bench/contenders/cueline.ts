import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { addAgent, type TestAgent } from '../../harness/agents.ts';
import { addKey, addWorkspace } from '../../harness/people.ts';
import { databaseUrl } from '../../harness/process.ts';
import type { Fault } from '../../proof/fault.ts';
import type { AgentConfig } from '../../src/core/agent/model-settings.ts';
import { type Db, openDatabase } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';
import type { BenchEnvironment } from '../environment.ts';
import { defaultFlags, type Server, startServer } from '../server.ts';
import type { Contender, Opened } from './contender.ts';

/** Cueline as shipped, with all checks and limits; the limits are too high to be reached. */

export interface CuelineOptions {
  readonly name: string;
  /** The roles to start, in order. The load is spread over all but workers. */
  readonly roles: readonly ('start' | 'api' | 'worker')[];
  readonly model?: string;
  /** Of the agent. */
  readonly config?: AgentConfig;
  readonly env?: Readonly<Record<string, string>>;
  /** Runs the processes with this change of their source. */
  readonly change?: Fault;
  /** More flags of Node. */
  readonly flags?: readonly string[];
}

export interface OpenedCueline extends Opened {
  readonly db: Db;
  readonly connection: pg.ClientConfig;
  readonly workspaceId: string;
  readonly ownerId: string;
  readonly agent: TestAgent;
  readonly key: string;
  readonly processes: readonly Server[];
}

export const postgresDurability = 'PostgreSQL: fsync=on, synchronous_commit=on';

export function cueline(options: CuelineOptions): Contender {
  return {
    name: options.name,
    durability: postgresDurability,
    open: (environment) => openCueline(environment, options),
  };
}

/** The highest limits possible: each is checked, counted and reported in headers. */
const plenty = 1_000_000_000;
const limits = { requestsPerMinute: plenty, requestsPerHour: plenty, requestsPerDay: plenty };
const root = join(import.meta.dirname, '..', '..');
const main = join(root, 'src', 'main.ts');
const faultLoader = join(root, 'proof', 'fault-loader.ts');

export async function openCueline(
  environment: BenchEnvironment,
  options: CuelineOptions,
): Promise<OpenedCueline> {
  const { connection, drop } = await environment.database();
  const db = openDatabase({ connection, poolMax: 2, onError: () => {} });
  const { workspaceId, ownerId } = await addWorkspace(db);
  await sql`update workspaces set actions_per_month = ${plenty}`.execute(db);
  const agent = await addAgent(
    { db, workspaceId, ownerId },
    {
      ...{ rateLimits: limits, model: options.model ?? 'cueline/echo' },
      config: options.config ?? {},
    },
  );
  const { key } = await addKey(db, { workspaceId, userId: ownerId }, { rateLimits: limits });
  const processes: Server[] = [];
  for (const role of options.roles) {
    processes.push(await startCueline(environment, connection, role, options));
  }
  const works = options.roles.some((role) => role !== 'api');
  const serving = processes.filter((_, at) => options.roles[at] !== 'worker');
  const [port = 0, ...morePorts] = serving.map(({ url }) => Number(url.port));
  return {
    db,
    connection,
    workspaceId,
    ownerId,
    agent,
    key,
    processes,
    target: {
      host: '127.0.0.1',
      port,
      morePorts,
      path: `${agent.path}/execute`,
      headers: { Authorization: `Bearer ${key}`, 'User-Agent': 'cueline-bench/1' },
      body: JSON.stringify({ variables: { name: 'a reader of the tide tables' } }),
    },
    servers: processes.map(({ pid }) => pid),
    store: environment.postmaster,
    async reset() {
      while (works && (await unfinished(db))) await delay(10);
      await sql`truncate execution_queue, executions, statistics, idempotency`.execute(db);
      await environment.ask('checkpoint');
    },
    finished: () => finished(db),
    async close() {
      for (const one of processes) await one.stop();
      await db.destroy();
      await drop();
    },
  };
}

export function startCueline(
  environment: BenchEnvironment,
  connection: pg.ClientConfig,
  role: 'start' | 'api' | 'worker',
  { env, change, flags = [] }: Pick<CuelineOptions, 'env' | 'change' | 'flags'> = {},
): Promise<Server> {
  return startServer({
    command: [main, role],
    flags: [...defaultFlags, ...flags, ...(change ? ['--import', faultLoader] : [])],
    env: {
      DATABASE_URL: databaseUrl(connection),
      CUELINE_SECRET: 'a secret that only the benchmarks use for their databases',
      PORT: '0',
      ...(change && { CUELINE_FAULT: JSON.stringify(change) }),
      ...env,
    },
    logFile: join(environment.directory, `${role}.log`),
  });
}

async function unfinished(db: Db): Promise<boolean> {
  const { rows } = await sql`select 1 from execution_queue limit 1`.execute(db);
  return rows.length > 0;
}

/** From the statistics: they are few rows, committed together with the records. */
async function finished(db: Db): Promise<number> {
  const { rows } = await sql<{ finished: string }>`
    select coalesce(sum(occurred), 0) as finished from statistics
    where level = 'day' and status = 'success'`.execute(db);
  return Number(rows[0]?.finished);
}
