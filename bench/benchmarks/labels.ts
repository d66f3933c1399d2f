import type { Db } from '../../src/db/database.ts';
import { foldLabels } from '../../src/engine/complete/label-changes.ts';
import type { Benchmark } from '../benchmark.ts';
import { openCueline, postgresDurability } from '../contenders/cueline.ts';
import type { BenchEnvironment } from '../environment.ts';
import { figure } from '../goals.ts';
import { finishAll } from '../measure.ts';
import { type Entry, inAlternation, type Series, type Spread, spread } from '../rounds.ts';
import { type Table, withRange } from '../table.ts';
import { cpuMicros, familyOf } from '../usage.ts';

const users = 1_000;
/** Three of them belong to each execution. */
const tags = 20;
const plain = 'without';
const labeled = 'with user and three tags';
const more = 'more with user and three tags';

export const labels: Benchmark = {
  name: 'labels',
  description:
    'Database CPU of one execution, from its call to its record, with and without `user` and three tags, in one process with ' +
    `both roles and a model that responds immediately. There are ${users} users and ${tags} tags. An end appends one row of ` +
    'labels; a background round counts them, many at once. Here it runs after each round and is measured alone, unless the ' +
    'process did it meanwhile.',
  goal: 'a finish with user and three tags costs at most 10 µs more',
  goalChecks: ([table]) => [
    { what: 'database CPU', unit: 'µs', value: figure(table, more, 1), most: 10 },
  ],
  byDefault: false,
  async run(environment, { rounds, requests, connections }) {
    const load = { connections, requests };
    const counting: number[] = [];
    const entry = (name: string, withLabels: boolean): Entry => {
      let db: Db | null = null;
      return {
        contender: {
          ...{ name, durability: postgresDurability },
          async open() {
            const opened = await openCueline(environment, { name, roles: ['start'] });
            db = opened.db;
            return { ...opened, target: { ...opened.target, bodies: bodies(withLabels) } };
          },
        },
        async measure(opened) {
          const sample = await finishAll(environment, opened, load);
          if (withLabels && db) counting.push((await countMicros(environment, db)) / requests);
          return sample;
        },
      };
    };
    const entries = [entry(plain, false), entry(labeled, true)];
    const series = await inAlternation(environment, entries, rounds);
    return [tableOf(series, counting.slice(-rounds))];
  },
};

/** Bodies of calls for different users; without labels, of the same number. */
function bodies(withLabels: boolean): string[] {
  return Array.from({ length: users }, (_, at) => {
    const variables = { name: `reader ${at} of the tide tables` };
    const three = [0, 1, 2].map((tag) => `tag-${(at + 7 * tag) % tags}`);
    return JSON.stringify({
      variables,
      ...(withLabels && { user: `user-${at}@example.com`, tags: three }),
    });
  });
}

/** The database CPU of counting all labels that are not counted yet. */
async function countMicros({ postmaster }: BenchEnvironment, db: Db): Promise<number> {
  const cpu = () => familyOf(postmaster).reduce((sum, pid) => sum + cpuMicros(pid), 0);
  const before = cpu();
  while ((await foldLabels(db, countedMax)) === countedMax);
  return cpu() - before;
}

/** As in a round of the server. */
const countedMax = 5_000;

function tableOf([base, other]: readonly Series[], counting: readonly number[]): Table {
  if (!base || !other) throw new Error('nothing was measured');
  const stores = ({ samples }: Series) => samples.map(({ cpu }) => cpu.store);
  const differences = stores(other).map((micros, at) => micros - (stores(base)[at] ?? 0));
  const row = (name: string, values: Spread) => [name, withRange(values, tenths)];
  return {
    columns: ['executions', 'µs CPU of PostgreSQL per execution'],
    rows: [
      row(plain, spread(stores(base))),
      row(labeled, spread(stores(other))),
      row(more, spread(differences)),
      row('counting the labels, later', spread(counting)),
    ],
  };
}

const tenths = (value: number) => value.toFixed(1);
