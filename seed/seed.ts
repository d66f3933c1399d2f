import { availableParallelism } from 'node:os';
import pg from 'pg';
import type { Caller } from '../src/core/people/caller.ts';
import { StartupFailure } from '../src/core/startup-failure.ts';
import { readClock } from '../src/db/clock.ts';
import type { Connection } from '../src/db/connection.ts';
import { clientConfig, type Db } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { indexRound } from '../src/features/history/verbs/index-round.ts';
import { type CreatedAgent, createSeededAgent, otherAgents } from './agents.ts';
import { type Day, lastDays, planDays, type Span } from './calendar.ts';
import { unauthorizedOneIn } from './outcomes.ts';
import { createPartitions } from './partitions.ts';
import type { Population } from './population.ts';
import { writeQueue } from './queue.ts';
import { someOf } from './random.ts';
import { type Writing, writeDay } from './write-day.ts';

export interface Seeding {
  readonly executions: number;
  /**
   * Executions of the others together. `null`: as many as of the new agent, if the others are
   * created now.
   */
  readonly others: number | null;
  readonly days: number;
  readonly queued: number;
}

export interface SeedDeps extends Writing {
  readonly db: Db;
  readonly connection: Connection;
  readonly owner: Caller;
  /** Sets the expected number of rows. */
  readonly setTotal: (rows: number) => void;
  readonly setPhase: (phase: string) => void;
}

export interface Seeded {
  readonly agent: CreatedAgent;
  /** Rows written, of all agents. */
  readonly rows: number;
}

/**
 * Creates one agent with its history. Each day is one transaction with its statistics, and days run in parallel. After
 * an interruption the agent has fewer executions, and its statistics match them.
 */
export async function seed(deps: SeedDeps, options: Seeding): Promise<Seeded> {
  const { db, owner, signal } = deps;
  const nowMs = await readClock(db);
  const span = lastDays(nowMs, options.days);
  await checkHistoryFloor(db, span);
  const { agents: others, created } =
    options.others === 0 ? { agents: [], created: false } : await otherAgents(db, owner);
  const othersExecutions = options.others ?? (created ? options.executions : 0);
  const rows = options.executions + othersExecutions + options.queued;
  deps.setTotal(rows);
  const label = new Date(nowMs).toISOString().slice(0, 19).replace('T', ' ');
  const own = await createSeededAgent(db, owner, label);
  const partitions = await createPartitions(db, span);
  const population: Population = {
    own,
    others,
    span,
    nowMs,
    rareOwn: rareOf(options.executions),
    rareOthers: rareOf(othersExecutions),
  };
  const days = planDays(span, options.executions, othersExecutions);
  const write = (client: pg.Client, day: Day) => writeDay(client, day, population, deps);
  await inParallel(deps, days, write);
  if (options.queued > 0) {
    const backlog = { count: options.queued, nowMs: await readClock(db) };
    await inParallel(deps, [backlog], (client) => writeQueue(client, own, backlog, deps));
  }
  signal.throwIfAborted();
  deps.setPhase('Indexing');
  await indexRound({ db, signal, isOn: true, rest: 0 });
  signal.throwIfAborted();
  deps.setPhase('Vacuuming');
  const tables = [...new Set([...partitions, ...(options.queued > 0 ? ['execution_queue'] : [])])];
  await inParallel(
    deps,
    [...tables, 'statistics', 'breakdown', 'search_groups', 'search_changes'],
    async (client, table) => {
      await client.query(`vacuum analyze ${client.escapeIdentifier(table)}`);
    },
  );
  return { agent: own, rows };
}

function rareOf(count: number): number[] {
  return [...someOf(Math.max(1, Math.round(count / unauthorizedOneIn)), count)];
}

/** Readers ignore records before the floor, and their partition may be dropped at any time. */
async function checkHistoryFloor(db: Db, { fromMs }: Span): Promise<void> {
  const { rows } = await sql<{ at: Date }>`
    select at from history_floor`.execute(db);
  const floor = rows[0]?.at;
  if (!floor || floor.getTime() <= fromMs) return;
  const floorDate = floor.toISOString().slice(0, 10);
  throw new StartupFailure(
    `The history of this database begins on ${floorDate}, because retention deleted older records. Use fewer --days.`,
  );
}

/**
 * Processes the pieces in parallel on a few connections. After the first failure, no further piece
 * starts.
 */
async function inParallel<T>(
  { connection, signal }: Pick<SeedDeps, 'connection' | 'signal'>,
  pieces: readonly T[],
  work: (client: pg.Client, piece: T) => Promise<void>,
): Promise<void> {
  const waiting = [...pieces].reverse();
  let failed = false;
  const processPieces = async () => {
    const client = new pg.Client(clientConfig(connection, 0));
    client.on('error', () => {});
    await client.connect();
    try {
      while (!failed && !signal.aborted) {
        const piece = waiting.pop();
        if (piece === undefined) return;
        await work(client, piece);
      }
    } catch (error) {
      failed = true;
      throw error;
    } finally {
      await client.end();
    }
  };
  const connections = Math.min(Math.max(2, availableParallelism()), connectionsMax, pieces.length);
  const ends = await Promise.allSettled(Array.from({ length: connections }, processPieces));
  signal.throwIfAborted();
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** Leaves connections to a running service. */
const connectionsMax = 8;
