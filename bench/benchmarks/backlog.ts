import { setTimeout as delay } from 'node:timers/promises';
import { sql } from '../../src/db/sql.ts';
import type { Benchmark, BenchmarkOptions } from '../benchmark.ts';
import { claimCostOf, microsPerClaim } from '../claims.ts';
import { type OpenedCueline, openCueline, startCueline } from '../contenders/cueline.ts';
import type { BenchEnvironment } from '../environment.ts';
import { fillQueue } from '../fill.ts';
import { figures } from '../goals.ts';
import { acceptFor } from '../measure.ts';
import { type Spread, spread } from '../rounds.ts';
import { hundredths, type Table, whole, withRange } from '../table.ts';

/** Lasts for a whole round. */
const smallQueue = 50_000;
/** A worker ends this many before the measurement starts. */
const warmUpExecutions = 2_000;

export const backlog: Benchmark = {
  name: 'backlog',
  description:
    'The cost of a long queue: accepting (`api`) and claiming (a `worker`, restarted in each round, with a model that ' +
    'responds immediately) on a database with a long backlog, alternating with one that has a short backlog.',
  goal: 'with 1,000,000 queued executions at most 1.2 times the cost',
  goalChecks: ([table]) => [
    { what: 'highest ratio', unit: '×', value: Math.max(...figures(table, 3)), most: 1.2 },
  ],
  byDefault: true,
  statements: true,
  executions: 1_000_000,
  async run(environment, options) {
    const [short, long] = [await openQueue(environment), await openQueue(environment)];
    const { executions } = options;
    options.note(`filling the queue with ${whole(executions)} executions`);
    await fillQueue(environment, long, executions);
    const rounds: { short: Round; long: Round }[] = [];
    for (let done = 0; done <= options.rounds; done++) {
      await short.reset();
      await fillQueue(environment, short, Math.min(smallQueue, executions));
      const both = {
        short: await round(environment, short, options),
        long: await round(environment, long, options),
      };
      if (done > 0) rounds.push(both);
    }
    await short.close();
    await long.close();
    return [tableOf(rounds, executions)];
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
  options: BenchmarkOptions,
): Promise<Round> {
  await environment.ask('checkpoint');
  const accepted = await acceptFor(environment, { ...opened, reset: async () => {} }, options);
  const database = opened.connection.database ?? '';
  const costBefore = await claimCostOf(environment, database);
  const finishedBefore = await opened.finished();
  const worker = await startCueline(environment, opened.connection, 'worker');
  while ((await opened.finished()) < finishedBefore + warmUpExecutions) await delay(10);
  const warm = { atMs: performance.now(), finished: await opened.finished() };
  await delay(options.seconds * 1_000);
  const finished = (await opened.finished()) - warm.finished;
  const tookSeconds = (performance.now() - warm.atMs) / 1_000;
  await worker.stop();
  const claimMicros = microsPerClaim(costBefore, await claimCostOf(environment, database));
  const { rows } = await sql`select 1 from execution_queue limit 1`.execute(opened.db);
  if (rows.length === 0) throw new Error('The queue ran empty. Shorten the rounds (--seconds).');
  return {
    acceptedPerSecond: accepted.perSecond,
    acceptMicros: accepted.cpu.server + accepted.cpu.store,
    finishedPerSecond: finished / tookSeconds,
    claimMicros,
  };
}

function tableOf(rounds: readonly { short: Round; long: Round }[], executions: number): Table {
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
    columns: ['', 'short queue', `${whole(executions)} executions queued`, 'times the cost'],
    rows: [
      row('202s/s', (one) => one.acceptedPerSecond, false),
      row('µs CPU per 202, server and store', (one) => one.acceptMicros, true),
      row('finished/s by one worker', (one) => one.finishedPerSecond, false),
      row('µs in the claim statement per execution', (one) => one.claimMicros, true),
    ],
  };
}
