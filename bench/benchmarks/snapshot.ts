import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Benchmark, BenchmarkOptions } from '../benchmark.ts';
import { claimCostOf, microsPerClaim } from '../claims.ts';
import { type OpenedCueline, openCueline, startCueline } from '../contenders/cueline.ts';
import type { BenchEnvironment } from '../environment.ts';
import { fillQueue } from '../fill.ts';
import { figure } from '../goals.ts';
import { acceptFor } from '../measure.ts';
import { hundredths, type Table, whole } from '../table.ts';

/** The backlog is measured in this many parts. The first is a warm-up. */
const parts = 10;

export const snapshot: Benchmark = {
  name: 'snapshot',
  description:
    'A worker executes a backlog while an idle transaction holds a snapshot, so that vacuum removes no dead rows; and the ' +
    'same without a snapshot. The cost of claims early (the second tenth) and late (the last tenth), and the cost of ' +
    'accepting before and after.',
  goal: 'over 1,000,000 executions (`--executions 1000000`), late claims under the snapshot cost at most 2 times early ones, and at most 2 times late ones without a snapshot',
  goalChecks: ([table]) => [
    { what: 'late claims to early ones', unit: '×', value: figure(table, 'held', 4), most: 2 },
    {
      what: 'late claims to late ones without a snapshot',
      unit: '×',
      value: figure(table, 'held', 3) / figure(table, 'none', 3),
      most: 2,
    },
  ],
  byDefault: true,
  statements: true,
  // A million takes a quarter of an hour.
  executions: 200_000,
  async run(environment, options) {
    const rows: string[][] = [];
    for (const held of [false, true]) {
      const opened = await openCueline(environment, { name: 'snapshot', roles: ['api'] });
      const holder = held ? await holdSnapshot(opened.connection) : null;
      options.note(
        `${whole(options.executions)} executions ${held ? 'under' : 'without'} a snapshot`,
      );
      rows.push([held ? 'held' : 'none', ...(await executeBacklog(environment, opened, options))]);
      await holder?.end();
      await opened.close();
    }
    const columns = [
      'snapshot',
      'executions',
      'early claims, µs each',
      'late',
      'times',
      'finished/s early',
      'late',
      'accept before, µs CPU each',
      'after',
    ];
    return [{ columns, rows } satisfies Table];
  },
};

async function holdSnapshot(connection: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(connection);
  await client.connect();
  await client.query('begin isolation level repeatable read');
  await client.query('select count(*) from execution_queue');
  return client;
}

async function executeBacklog(
  environment: BenchEnvironment,
  opened: OpenedCueline,
  options: BenchmarkOptions,
): Promise<string[]> {
  const { executions } = options;
  const accept = () =>
    acceptFor(environment, { ...opened, reset: async () => {} }, options).then(
      ({ cpu }) => cpu.server + cpu.store,
    );
  await accept();
  const acceptBefore = await accept();
  await fillQueue(environment, opened, executions);
  const database = opened.connection.database ?? '';
  const worker = await startCueline(environment, opened.connection, 'worker');
  const all: { claimMicros: number; perSecond: number }[] = [];
  const measure = async () => ({
    cost: await claimCostOf(environment, database),
    atMs: performance.now(),
    finished: await opened.finished(),
  });
  let last = { ...(await measure()), finished: 0 };
  for (let part = 1; part <= parts; part++) {
    while ((await opened.finished()) < (executions * part) / parts) await delay(50);
    const now = await measure();
    all.push({
      claimMicros: microsPerClaim(last.cost, now.cost),
      perSecond: ((now.finished - last.finished) * 1_000) / (now.atMs - last.atMs),
    });
    last = now;
  }
  await worker.stop();
  const acceptAfter = await accept();
  const [early, late] = [all[1], all.at(-1)];
  if (!early || !late) throw new Error('no execution ended');
  return [
    whole(executions),
    whole(early.claimMicros),
    whole(late.claimMicros),
    hundredths(late.claimMicros / early.claimMicros),
    whole(early.perSecond),
    whole(late.perSecond),
    whole(acceptBefore),
    whole(acceptAfter),
  ];
}
