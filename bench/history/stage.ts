import { once } from 'node:events';
import { Agent, get } from 'node:http';
import type pg from 'pg';
import { addWorkspace } from '../../harness/people.ts';
import type { MadeAgent } from '../../seed/agents.ts';
import { lastDays } from '../../seed/calendar.ts';
import { type SeedDeps, seed } from '../../seed/seed.ts';
import { firstOwner } from '../../src/cli/server/first-workspace.ts';
import { readClock } from '../../src/store/connection/clock.ts';
import { openDatabase } from '../../src/store/connection/database.ts';
import type { Bed } from '../bed.ts';
import { startCueline } from '../contenders/cueline.ts';

/** A database with a history of that length beside others' of the same, one of ten records, and a server on it. */
export interface Stage {
  readonly records: number;
  readonly agent: MadeAgent;
  /** When the records are from. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly connection: pg.ClientConfig;
  readonly seeding: SeedDeps;
  /** The list of the long history, its answer read. */
  ask(query: string): Promise<ListAnswer>;
  /** How long the list takes, to the last byte, in milliseconds. */
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
/** One call after the other is slower than that. */
export const env = { CUELINE_LIST_PER_MINUTE: '1000000', CUELINE_LOG_LEVEL: 'warn' };

export async function openStage(bed: Bed, records: number): Promise<Stage> {
  const { connection, drop } = await bed.database();
  const db = openDatabase({ connection, poolMax: 2, statementMsMax: 0, onError: () => {} });
  await addWorkspace(db);
  const seeding = {
    db,
    connection,
    owner: await firstOwner(db, undefined),
    signal: new AbortController().signal,
    setTotal() {},
    addRows() {},
    setPhase() {},
  };
  const span = lastDays(await readClock(db), days);
  const { agent } = await seed(seeding, { executions: records, others: records, days, queued: 0 });
  const base = { executions: baseRecords, others: 0, days: 1, queued: 0 };
  const { agent: few } = await seed(seeding, base);
  await bed.ask('checkpoint');
  const server = await startCueline(bed, connection, 'api', env);
  // One connection to the server, kept open: what is measured is the answer and not the way to it.
  const calls = new Agent({ keepAlive: true, maxSockets: 1 });
  const call = async (of: MadeAgent, query: string) => {
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

async function timed(agent: Agent, url: URL, { wireId, key }: MadeAgent, query: string) {
  const begun = performance.now();
  const request = get(new URL(`/api/v1/agents/${wireId}/executions?${query}`, url), {
    agent,
    headers: { authorization: `Bearer ${key}` },
  });
  const [response] = await once(request, 'response');
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece);
  const ms = performance.now() - begun;
  return { ms, answer: { status: response.statusCode, text: Buffer.concat(pieces).toString() } };
}
