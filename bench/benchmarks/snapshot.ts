import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Benchmark, BenchmarkOptions } from '../benchmark.ts';
import { claimsOf, since } from '../claims.ts';
import { type OpenedCueline, openCueline, startCueline } from '../contenders/cueline.ts';
import type { BenchEnvironment } from '../environment.ts';
import { fillQueue } from '../fill.ts';
import { figure } from '../goals.ts';
import { acceptFor } from '../measure.ts';
import { hundredths, type Table, whole } from '../table.ts';

/** The backlog is worked off in so many parts, and the first (in which the code warms up) is compared to nothing. */
const parts = 10;

export const snapshot: Benchmark = {
  name: 'snapshot',
  description:
    'A worker works off a backlog while an idle transaction elsewhere holds a snapshot, so that no dead row can be ' +
    'cleared away; and the same without one. What claiming costs early (the second tenth of the runs) and late (the last), ' +
    'and what accepting costs before and after.',
  goal: 'claiming grows to at most 2 times under the snapshot over 1,000,000 runs (`--runs 1000000`), be it of its own beginning or of the end without a snapshot',
  goalChecks: ([table]) => [
    { what: 'claiming late to early', unit: '×', value: figure(table, 'held', 4), most: 2 },
    {
      what: 'late to late without a snapshot',
      unit: '×',
      value: figure(table, 'held', 3) / figure(table, 'none', 3),
      most: 2,
    },
  ],
  byDefault: true,
  statements: true,
  // A million takes a quarter of an hour: `--runs 1000000`.
  runs: 200_000,
  async run(environment, how) {
    const rows: string[][] = [];
    for (const held of [false, true]) {
      const opened = await openCueline(environment, { name: 'snapshot', roles: ['api'] });
      const holder = held ? await holdSnapshot(opened.connection) : null;
      how.note(`${whole(how.runs)} runs ${held ? 'under' : 'without'} a snapshot`);
      rows.push([held ? 'held' : 'none', ...(await workOff(environment, opened, how))]);
      await holder?.end();
      await opened.close();
    }
    const columns = [
      'snapshot',
      'runs',
      'claim early, µs each',
      'claim late',
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

async function workOff(
  environment: BenchEnvironment,
  opened: OpenedCueline,
  how: BenchmarkOptions,
): Promise<string[]> {
  const accept = () =>
    acceptFor(environment, { ...opened, reset: async () => {} }, how).then(
      ({ cpu }) => cpu.server + cpu.store,
    );
  await accept();
  const acceptBefore = await accept();
  await fillQueue(environment, opened, how.runs);
  const database = opened.connection.database ?? '';
  const worker = await startCueline(environment, opened.connection, 'worker');
  const all: { claimMicros: number; perSecond: number }[] = [];
  let last = {
    claims: await claimsOf(environment, database),
    atMs: performance.now(),
    finished: 0,
  };
  for (let part = 1; part <= parts; part++) {
    while ((await opened.finished()) < (how.runs * part) / parts) await delay(50);
    const now = {
      claims: await claimsOf(environment, database),
      atMs: performance.now(),
      finished: await opened.finished(),
    };
    all.push({
      claimMicros: since(last.claims, now.claims).microsEach,
      perSecond: ((now.finished - last.finished) * 1_000) / (now.atMs - last.atMs),
    });
    last = now;
  }
  await worker.stop();
  const acceptAfter = await accept();
  const [early, late] = [all[1], all.at(-1)];
  if (!early || !late) throw new Error('nothing was worked off');
  return [
    whole(how.runs),
    whole(early.claimMicros),
    whole(late.claimMicros),
    hundredths(late.claimMicros / early.claimMicros),
    whole(early.perSecond),
    whole(late.perSecond),
    whole(acceptBefore),
    whole(acceptAfter),
  ];
}
