import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Benchmark, BenchmarkOptions } from '../benchmark.ts';
import { claimsOf, since } from '../claims.ts';
import { type OpenedCueline, openCueline, startCueline } from '../contenders/cueline.ts';
import type { BenchEnvironment } from '../environment.ts';
import { fillQueue } from '../fill.ts';
import { figures } from '../goals.ts';
import { acceptFor } from '../measure.ts';
import { type Spread, spread } from '../rounds.ts';
import { hundredths, type Table, whole, withRange } from '../table.ts';

/** Enough for a worker to have something to claim all through a round. */
const smallQueue = 50_000;
/** Finished by a worker before its clock starts. */
const warmUpRuns = 2_000;

export const backlog: Benchmark = {
  name: 'backlog',
  description:
    'What a long queue costs: accepting (`api`) and claiming (a `worker` on a model that answers at once, started anew ' +
    'each round) on a database with a long backlog, in alternation with one that has a short one.',
  goal: 'with 1,000,000 queued runs at most 1.2 times the cost',
  goalChecks: ([table]) => [
    { what: 'what grows most', unit: '×', value: Math.max(...figures(table, 3)), most: 1.2 },
  ],
  byDefault: true,
  statements: true,
  runs: 1_000_000,
  async run(environment, how) {
    const [short, long] = [await openQueue(environment), await openQueue(environment)];
    how.note(`filling the queue with ${whole(how.runs)} runs`);
    await fillQueue(environment, long, how.runs);
    const rounds: { short: Round; long: Round }[] = [];
    for (let made = 0; made <= how.rounds; made++) {
      await short.reset();
      await fillQueue(environment, short, Math.min(smallQueue, how.runs));
      const both = {
        short: await round(environment, short, how),
        long: await round(environment, long, how),
      };
      if (made > 0) rounds.push(both);
    }
    await short.close();
    await long.close();
    return [tableOf(rounds, how.runs)];
  },
};

interface Round {
  readonly acceptedPerSecond: number;
  readonly acceptMicros: number;
  readonly finishedPerSecond: number;
  readonly claimMicros: number;
}

function openQueue(environment: BenchEnvironment): Promise<OpenedCueline> {
  return openCueline(environment, { name: 'queue', roles: ['api'] });
}

async function round(
  environment: BenchEnvironment,
  opened: OpenedCueline,
  how: BenchmarkOptions,
): Promise<Round> {
  await environment.ask('checkpoint');
  const { connections, seconds } = how;
  const accepted = await acceptFor(
    environment,
    { ...opened, reset: async () => {} },
    { connections, seconds },
  );
  const database = opened.connection.database ?? '';
  const before = {
    claims: await claimsOf(environment, database),
    finished: await opened.finished(),
  };
  const worker = await startCueline(environment, opened.connection, 'worker');
  while ((await opened.finished()) < before.finished + warmUpRuns) await delay(10);
  const warm = { atMs: performance.now(), finished: await opened.finished() };
  await delay(seconds * 1_000);
  const finished = (await opened.finished()) - warm.finished;
  const tookSeconds = (performance.now() - warm.atMs) / 1_000;
  await worker.stop();
  const { microsEach } = since(before.claims, await claimsOf(environment, database));
  const { rows } = await sql`select 1 from execution_queue limit 1`.execute(opened.db);
  if (rows.length === 0) throw new Error('the queue ran empty: shorten the rounds (--seconds)');
  return {
    acceptedPerSecond: accepted.perSecond,
    acceptMicros: accepted.cpu.server + accepted.cpu.store,
    finishedPerSecond: finished / tookSeconds,
    claimMicros: microsEach,
  };
}

function tableOf(rounds: readonly { short: Round; long: Round }[], runs: number): Table {
  const row = (name: string, of: (round: Round) => number, cost: boolean): string[] => {
    const each = (which: 'short' | 'long') => spread(rounds.map((one) => of(one[which])));
    const ratio: Spread = spread(
      rounds.map(({ short, long }) => (cost ? of(long) / of(short) : of(short) / of(long))),
    );
    return [
      name,
      withRange(each('short'), whole),
      withRange(each('long'), whole),
      withRange(ratio, hundredths),
    ];
  };
  return {
    columns: ['', 'short queue', `${whole(runs)} runs queued`, 'times the cost'],
    rows: [
      row('202s/s', (one) => one.acceptedPerSecond, false),
      row('µs CPU for each 202, server and store', (one) => one.acceptMicros, true),
      row('finished/s by one worker', (one) => one.finishedPerSecond, false),
      row('µs in the claiming statement for each run', (one) => one.claimMicros, true),
    ],
  };
}
