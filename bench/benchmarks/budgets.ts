import { addBudget, addPrice, type BudgetOptions } from '../../harness/budgets.ts';
import type { Benchmark } from '../benchmark.ts';
import type { Contender } from '../contenders/contender.ts';
import { openCueline, postgresDurability } from '../contenders/cueline.ts';
import { figure } from '../goals.ts';
import { finishAll, type Sample } from '../measure.ts';
import { inAlternation, type Series, spread } from '../rounds.ts';
import { hundredths, type Table, throughput, whole, withRange } from '../table.ts';

const none = 'no budget';
const again = 'no budget, again';
const workspace = 'one budget of the workspace';
const perUser = 'one budget per user';
const users = 1_000;
/** A limit that is never reached. */
const limitUSD = 1_000_000_000;

export const budgets: Benchmark = {
  name: 'budgets',
  description:
    'Ended executions per second with a model that responds immediately and has a price, in one process with both roles, without ' +
    'a budget and with one that has room. Each call names one of ' +
    `${users} users. *${again}* is the A/A pair of *${none}*: differences within its spread are noise. CPU is that of server and ` +
    'PostgreSQL.',
  goal: `with one budget of the workspace, at most 10 % fewer executions end per second`,
  goalChecks: ([rates]) => [
    { what: `of ${none}, ${workspace}`, value: figure(rates, workspace, 2), least: 0.9 },
  ],
  byDefault: true,
  async run(environment, { rounds, requests, connections }) {
    const load = { connections, requests };
    const contenders = [
      contender(none, null),
      contender(again, null),
      contender(workspace, { limitUSD }),
      contender(perUser, { limitUSD, per: 'user' }),
    ];
    const series = await inAlternation(
      environment,
      contenders.map((one) => {
        return { contender: one, measure: (opened) => finishAll(environment, opened, load) };
      }),
      rounds,
    );
    return [throughput(series, 'finished'), cpuTable(series)];
  },
};

function contender(name: string, budget: BudgetOptions | null): Contender {
  return {
    name,
    durability: postgresDurability,
    async open(environment) {
      const config = { maxTokens: 256 };
      const opened = await openCueline(environment, { name, roles: ['start'], config });
      await addPrice(opened, { model: 'cueline/echo', perToken: 0.000_01 });
      if (budget) await addBudget(opened, budget);
      return { ...opened, target: { ...opened.target, bodies: budgetBodies } };
    },
  };
}

export const budgetBodies = Array.from({ length: users }, (_, at) =>
  JSON.stringify({
    variables: { name: `reader ${at} of the tide tables` },
    user: `user-${at}@example.com`,
  }),
);

/** CPU of an execution, with its ratio to the first contender, round by round. */
function cpuTable(series: readonly Series[]): Table {
  const [base] = series;
  if (!base) throw new Error('nothing was measured');
  const micros = ({ cpu }: Sample) => cpu.server + cpu.store;
  const baseAt = (round: number) => base.samples[round]?.cpu ?? { server: 0, store: 0 };
  return {
    title: 'CPU of an execution',
    columns: [
      '',
      'µs, server and PostgreSQL',
      `of ${none}`,
      'more of PostgreSQL',
      'more of server',
    ],
    rows: series.map(({ contender: { name }, samples }) => [
      name,
      withRange(spread(samples.map(micros)), whole),
      withRange(
        spread(samples.map((one, at) => micros(one) / (baseAt(at).server + baseAt(at).store))),
        hundredths,
      ),
      ...(['store', 'server'] as const).map((who) =>
        withRange(spread(samples.map(({ cpu }, at) => cpu[who] - baseAt(at)[who])), whole),
      ),
    ]),
  };
}
