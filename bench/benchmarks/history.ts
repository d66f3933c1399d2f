import pg from 'pg';
import { percentile } from '../../proof/claim.ts';
import { writeQueue } from '../../seed/queue.ts';
import { readClock } from '../../src/db/clock.ts';
import type { Benchmark } from '../benchmark.ts';
import type { BenchEnvironment } from '../environment.ts';
import { figures } from '../goals.ts';
import { backlogCases, casesOf } from '../history/cases.ts';
import { type Fixture, openFixture } from '../history/fixture.ts';
import { plainCases, timePlain } from '../history/plain.ts';
import { planOf } from '../history/plan.ts';
import { sizes } from '../history/sizes.ts';
import { callsEach, medianOf, ratioToBase, type Timed, timeCases } from '../history/timing.ts';
import { spread } from '../rounds.ts';
import { hundredths, type Table, whole } from '../table.ts';

const lengths = [10_000, 1_000_000];
const backlogMax = 1_000_000;

export const history: Benchmark = {
  name: 'history',
  description:
    "Pages of an agent's history over HTTP, one call at a time over one connection; 1,000 other agents have as many " +
    `records. Every case ${callsEach} times, in rounds over all cases and lengths. ms: the median and, in parentheses, the ` +
    '99th percentile. ×: the ratio of the median to that of the first page of an agent with ten records in the same ' +
    'database, called in between.',
  goal:
    'every case within 6 × the first page of ten records, and 10,000,000 records at most 1.3 × as long as 1,000,000 ' +
    '(`--executions 10000000`)',
  goalChecks: ([all, , queued]) => {
    const times = (all?.columns ?? []).flatMap((name, at) =>
      name === '×' ? figures(all, at) : [],
    );
    const grown = all?.columns.indexOf(`to ${whole(1_000_000)}`) ?? -1;
    return [
      { what: 'slowest case', unit: '×', value: Math.max(...times), most: 6 },
      {
        what: 'slowest case with a full queue',
        unit: '×',
        value: Math.max(...figures(queued, 3)),
        most: 6,
      },
      ...(grown < 0
        ? []
        : [
            {
              what: 'highest growth',
              unit: '×',
              value: Math.max(...figures(all, grown)),
              most: 1.3,
            },
          ]),
    ];
  },
  byDefault: false,
  // Ten million take 40 GB and half an hour.
  executions: 100_000,
  async run(environment, { executions, note }) {
    const fixtures: Fixture[] = [];
    try {
      for (const records of [...lengths.filter((length) => length < executions), executions]) {
        const startedMs = performance.now();
        fixtures.push(await openFixture(environment, records));
        const seconds = (performance.now() - startedMs) / 1_000;
        note(
          `${whole(records)} records and ${whole(records)} of other agents in ${whole(seconds)} s`,
        );
      }
      const diskSpace = await sizes(fixtures);
      const entries: { fixture: Fixture; cases: Awaited<ReturnType<typeof casesOf>> }[] = [];
      for (const fixture of fixtures) entries.push({ fixture, cases: await casesOf(fixture) });
      const timed = await timeCases(entries);
      const longest = timed.at(-1) as Timed;
      const slowest = slowestOf(longest);
      const plan = await planOf(environment, longest.fixture, queryOf(longest, slowest));
      const explained = `The longest statement of the slowest case, ${slowest}, at ${whole(executions)}:\n\n\`\`\`\n${plan}\n\`\`\``;
      return [
        casesTable(timed, explained),
        await plainTable(longest),
        await underBacklog(environment, longest),
        diskSpace,
      ];
    } finally {
      for (const fixture of fixtures) await fixture.close();
    }
  },
};

function casesTable(timed: readonly Timed[], explained: string): Table {
  const longest = timed.at(-1) as Timed;
  const before = timed.at(-2);
  const baseline = timed.map((one) => cells(one.base, 1));
  return {
    title: 'Cases',
    columns: [
      'case',
      `matches at ${whole(longest.fixture.records)}`,
      ...timed.flatMap(({ fixture }) => [`${whole(fixture.records)}: ms`, '×']),
      ...(before ? [`to ${whole(before.fixture.records)}`] : []),
    ],
    rows: [
      ['first page of ten records', '10', ...baseline.flat(), ...(before ? [''] : [])],
      ...longest.cases.map(({ name, total }) => [
        name,
        whole(total),
        ...timed.flatMap((one) => cells(one.calls.get(name) ?? [], ratioToBase(one, name))),
        ...(before ? [hundredths(growth(before, longest, name))] : []),
      ]),
    ],
    notes: [
      ...timed.map((one) => {
        const name = slowestOf(one);
        return `At ${whole(one.fixture.records)}: ${hundredths(ratioToBase(one, name))} × at most (${name}).`;
      }),
      ...(before ? [growthNote(before, longest)] : []),
      explained,
    ],
  };
}

function cells(calls: readonly number[], times: number): [string, string] {
  const { median } = spread(calls);
  return [`${hundredths(median)} (${hundredths(percentile(calls, 0.99))})`, hundredths(times)];
}

/** The ratio of the milliseconds: rounds alternate between the lengths, so conditions are the same. */
function growth(before: Timed, after: Timed, name: string): number {
  return medianOf(after, name) / medianOf(before, name);
}

function growthNote(before: Timed, after: Timed): string {
  const all = after.cases
    .map(({ name }) => ({ name, times: growth(before, after, name) }))
    .sort((a, b) => b.times - a.times);
  const [first] = all;
  const median = spread(all.map(({ times }) => times)).median;
  return (
    `From ${whole(before.fixture.records)} to ${whole(after.fixture.records)}: median of the cases ` +
    `${hundredths(median)} ×, at most ${hundredths(first?.times ?? 0)} × (${first?.name}).`
  );
}

function slowestOf(timed: Timed): string {
  const names = timed.cases.map(({ name }) => name);
  return names.sort((a, b) => medianOf(timed, b) - medianOf(timed, a))[0] ?? '';
}

function queryOf({ cases }: Timed, name: string): string {
  return cases.find((one) => one.name === name)?.query ?? '';
}

async function plainTable(timed: Timed): Promise<Table> {
  const rows: string[][] = [];
  for (const name of plainCases) {
    const plainMs = await timePlain(timed.fixture, queryOf(timed, name));
    const listMs = medianOf(timed, name);
    rows.push([name, hundredths(listMs), hundredths(plainMs), hundredths(plainMs / listMs)]);
  }
  return {
    title: `Compared with plain SQL, at ${whole(timed.fixture.records)}`,
    columns: ['case', 'list over HTTP, ms', 'count(*) and offset in the database, ms', 'times'],
    rows,
  };
}

/** The same history while its agent has queued executions. */
async function underBacklog(environment: BenchEnvironment, before: Timed): Promise<Table> {
  const { fixture } = before;
  const count = Math.min(backlogMax, fixture.records);
  await fill(fixture, count);
  await environment.ask('checkpoint');
  const cases = (await casesOf(fixture)).filter(({ name }) => backlogCases.includes(name));
  const [after] = await timeCases([{ fixture, cases }]);
  if (!after) throw new Error('no case was timed');
  return {
    title: `With ${whole(count)} queued executions of the agent, at ${whole(fixture.records)}`,
    columns: ['case', 'matches', 'ms', '×', 'without the queue ×'],
    rows: cases.map(({ name, total }) => [
      name,
      whole(total),
      ...cells(after.calls.get(name) ?? [], ratioToBase(after, name)),
      hundredths(ratioToBase(before, name)),
    ]),
  };
}

async function fill({ agent, connection, seeding }: Fixture, count: number): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  await writeQueue(client, agent, { count, nowMs: await readClock(seeding.db) }, seeding);
  await client.query('vacuum analyze executions');
  await client.query('vacuum analyze execution_queue');
  await client.end();
}
