import { availableParallelism } from 'node:os';
import { sql } from 'kysely';
import pg from 'pg';
import type { Caller } from '../src/core/execution/caller.ts';
import { StartupFailure } from '../src/core/startup-failure.ts';
import { readClock } from '../src/store/connection/clock.ts';
import { clientConfig, type Db } from '../src/store/connection/database.ts';
import type { Connection } from '../src/store/connection/detect-pooler.ts';
import { type MadeAgent, makeAgent, otherAgents } from './agents.ts';
import { type Day, lastDays, planDays, type Span } from './calendar.ts';
import { someOf } from './chance.ts';
import { unauthorizedOneIn } from './outcomes.ts';
import { makePartitions } from './partitions.ts';
import type { Population } from './population.ts';
import { writeQueue } from './queue.ts';
import { type Writing, writeDay } from './write-day.ts';

export interface Seeding {
  readonly executions: number;
  /** Of the others together; null: as many, where they are made now. */
  readonly others: number | null;
  readonly days: number;
  readonly queued: number;
}

export interface SeedParts extends Writing {
  readonly db: Db;
  readonly connection: Connection;
  readonly owner: Caller;
  /** How many rows it will be. */
  readonly setTotal: (rows: number) => void;
  readonly setPhase: (what: string) => void;
}

export interface Seeded {
  readonly agent: MadeAgent;
  /** Rows that were written, of all agents. */
  readonly rows: number;
}

/**
 * One new agent with its history. Days are written side by side, each in a transaction with its statistics: where this
 * is interrupted, the agent has fewer executions, and all that is said of them is true.
 */
export async function seed(parts: SeedParts, asked: Seeding): Promise<Seeded> {
  const { db, owner, signal } = parts;
  const nowMs = await readClock(db);
  const span = lastDays(nowMs, asked.days);
  await refuseBelowFloor(db, span);
  const { agents: others, made } =
    asked.others === 0 ? { agents: [], made: false } : await otherAgents(db, owner);
  const ofOthers = asked.others ?? (made ? asked.executions : 0);
  const rows = asked.executions + ofOthers + asked.queued;
  parts.setTotal(rows);
  const label = new Date(nowMs).toISOString().slice(0, 19).replace('T', ' ');
  const own = await makeAgent(db, owner, label);
  const partitions = await makePartitions(db, span);
  const population: Population = {
    own,
    others,
    span,
    nowMs,
    rareOwn: rareOf(asked.executions),
    rareOthers: rareOf(ofOthers),
  };
  const days = planDays(span, asked.executions, ofOthers);
  const write = (client: pg.Client, day: Day) => writeDay(client, day, population, parts);
  await sideBySide(parts, days, write);
  if (asked.queued > 0) {
    const backlog = { count: asked.queued, nowMs: await readClock(db) };
    await sideBySide(parts, [backlog], (client) => writeQueue(client, own, backlog, parts));
  }
  signal.throwIfAborted();
  parts.setPhase('Vacuuming');
  const tables = [...new Set([...partitions, ...(asked.queued > 0 ? ['execution_queue'] : [])])];
  await sideBySide(parts, [...tables, 'statistics', 'breakdown'], async (client, table) => {
    await client.query(`vacuum analyze ${client.escapeIdentifier(table)}`);
  });
  return { agent: own, rows };
}

function rareOf(count: number): number[] {
  return [...someOf(Math.max(1, Math.round(count / unauthorizedOneIn)), count)];
}

/** What lies before the floor is gone for every reader, and its partition may be dropped at any time. */
async function refuseBelowFloor(db: Db, { fromMs }: Span): Promise<void> {
  const { rows } = await sql<{ at: Date }>`
    select at from history_floor`.execute(db);
  const floor = rows[0]?.at;
  if (!floor || floor.getTime() <= fromMs) return;
  const said = floor.toISOString().slice(0, 10);
  throw new StartupFailure(
    `The history of this database begins on ${said}, as retention has left it: give fewer --days.`,
  );
}

/** Each piece of work on one of a few connections. The first failure ends the others at their next piece. */
async function sideBySide<T>(
  { connection, signal }: Pick<SeedParts, 'connection' | 'signal'>,
  pieces: readonly T[],
  work: (client: pg.Client, piece: T) => Promise<void>,
): Promise<void> {
  const waiting = [...pieces].reverse();
  let failed = false;
  const lane = async () => {
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
  const lanes = Math.min(Math.max(2, availableParallelism()), lanesMax, pieces.length);
  const ends = await Promise.allSettled(Array.from({ length: lanes }, lane));
  signal.throwIfAborted();
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** The service beside it wants connections, too. */
const lanesMax = 8;
