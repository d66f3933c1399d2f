import { once } from 'node:events';
import { Agent, get } from 'node:http';
import type pg from 'pg';
import { addWorkspace } from '../../harness/people.ts';
import type { CreatedAgent } from '../../seed/agents.ts';
import { lastDays } from '../../seed/calendar.ts';
import { type SeedDeps, seed } from '../../seed/seed.ts';
import { firstOwner } from '../../src/cli/server/first-workspace.ts';
import { readClock } from '../../src/db/clock.ts';
import { type Db, openDatabase } from '../../src/db/database.ts';
import { startCueline } from '../contenders/cueline.ts';
import type { BenchEnvironment } from '../environment.ts';

/** A server with a history of this length, records of other agents, and one history of ten records. */
export interface Fixture {
  readonly records: number;
  readonly agent: CreatedAgent;
  /** The time range of the records. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly connection: pg.ClientConfig;
  readonly seeding: SeedDeps;
  /** The parsed response for the long history. */
  ask(query: string): Promise<ListAnswer>;
  /** The duration of the list in milliseconds, to the last byte. */
  time(query: string): Promise<number>;
  /** The first page of the ten records. */
  timeBase(): Promise<number>;
  close(): Promise<void>;
}

export interface ListAnswer {
  readonly pagination: { readonly total: number };
  readonly nextCursor?: string;
}

const days = 90;
const baseRecords = 10;
/** The limit is higher than sequential calls can reach. */
export const env = { CUELINE_LIST_PER_MINUTE: '1000000', CUELINE_LOG_LEVEL: 'warn' };

/** @param others how many records the other agents have together */
export async function openFixture(
  environment: BenchEnvironment,
  records: number,
  others = records,
): Promise<Fixture> {
  const { connection, drop } = await environment.database();
  const db = openDatabase({ connection, poolMax: 2, statementMsMax: 0, onError: () => {} });
  await addWorkspace(db);
  const seeding = await seedDeps(db, connection);
  const span = lastDays(await readClock(db), days);
  const { agent } = await seed(seeding, { executions: records, others, days, queued: 0 });
  const base = { executions: baseRecords, others: 0, days: 1, queued: 0 };
  const { agent: few } = await seed(seeding, base);
  await environment.ask('checkpoint');
  const server = await startCueline(environment, connection, 'api', { env });
  // One open connection: the measurement excludes the connect.
  const calls = new Agent({ keepAlive: true, maxSockets: 1 });
  const call = async (of: CreatedAgent, query: string) => {
    const { answer, ms } = await timed(calls, server.url, of, query);
    if (answer.status !== 200) throw new Error(`${query}: ${answer.status} ${answer.text}`);
    return { ms, text: answer.text };
  };
  return {
    records,
    agent,
    ...span,
    connection,
    seeding,
    ask: async (query) => JSON.parse((await call(agent, query)).text),
    time: async (query) => (await call(agent, query)).ms,
    timeBase: async () => (await call(few, 'limit=20')).ms,
    async close() {
      calls.destroy();
      await server.stop();
      await db.destroy();
      await drop();
    },
  };
}

/** For a seed without progress output. */
export async function seedDeps(db: Db, connection: pg.ClientConfig): Promise<SeedDeps> {
  const none = () => {};
  return {
    ...{ db, connection, owner: await firstOwner(db, undefined) },
    ...{ signal: new AbortController().signal, setTotal: none, addRows: none, setPhase: none },
  };
}

async function timed(agent: Agent, url: URL, { wireId, key }: CreatedAgent, query: string) {
  const startedMs = performance.now();
  const request = get(new URL(`/api/v1/agents/${wireId}/executions?${query}`, url), {
    agent,
    headers: { authorization: `Bearer ${key}` },
  });
  const [response] = await once(request, 'response');
  const chunks: Buffer[] = await response.toArray();
  const ms = performance.now() - startedMs;
  return { ms, answer: { status: response.statusCode, text: Buffer.concat(chunks).toString() } };
}
