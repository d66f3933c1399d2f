import { addBudget, addPrice, type BudgetOptions } from '../../harness/budgets.ts';
import type { Benchmark } from '../benchmark.ts';
import type { Contender } from '../contenders/contender.ts';
import { openCueline, postgresDurability } from '../contenders/cueline.ts';
import { figure } from '../goals.ts';
import { finishAll, type Sample } from '../measure.ts';
import { inAlternation, ratios, type Series, type Spread, spread } from '../rounds.ts';
import { hundredths, type Table, whole, withRange } from '../table.ts';

const none = 'no budget';
const again = 'no budget, again';
const workspace = 'one budget of the workspace';
const noneForUsers = 'no budget, with `user`';
const perUser = 'one budget per user, with `user`';
const users = 1_000;
/** A limit that is never reached. */
const limitUSD = 1_000_000_000;

/** Each after the contender that it is compared with. */
const compared = [
  { name: again, base: none },
  { name: workspace, base: none },
  { name: perUser, base: noneForUsers },
];

export const budgets: Benchmark = {
  name: 'budgets',
  description:
    'Ended executions per second with a model that responds immediately and has a price, in one process with both roles, without ' +
    `a budget and with one that has room: each call is reserved, settled and folded. *${again}* is the A/A pair of *${none}*: ` +
    'differences within its spread are noise. Calls with `user` name one of ' +
    `${users}, and a window of the budget is locked for each. CPU is that of server and PostgreSQL.`,
  goal: 'with one budget of the workspace, at most 10 % fewer executions end per second',
  goalChecks: ([table]) => [
    { what: `of ${none}, ${workspace}`, value: figure(table, workspace, 2), least: 0.9 },
  ],
  byDefault: true,
  async run(environment, { rounds, requests, connections }) {
    const load = { connections, requests };
    const contenders = [
      contender(none, {}),
      contender(again, {}),
      contender(workspace, { budget: { limitUSD } }),
      contender(noneForUsers, { hasUsers: true }),
      contender(perUser, { hasUsers: true, budget: { limitUSD, per: 'user' } }),
    ];
    const series = await inAlternation(
      environment,
      contenders.map((one) => {
        return { contender: one, measure: (opened) => finishAll(environment, opened, load) };
      }),
      rounds,
    );
    return [tableOf(series)];
  },
};

interface BudgetedLoad {
  readonly hasUsers?: boolean;
  readonly budget?: BudgetOptions;
}

function contender(name: string, { hasUsers = false, budget }: BudgetedLoad): Contender {
  return {
    name,
    durability: postgresDurability,
    async open(environment) {
      const config = { maxTokens: 256 };
      const opened = await openCueline(environment, { name, roles: ['start'], config });
      await addPrice(opened, { model: 'cueline/echo', perToken: 0.000_01 });
      if (budget) await addBudget(opened, budget);
      const { target } = opened;
      return { ...opened, target: { ...target, ...(hasUsers && { bodies: bodiesOfUsers }) } };
    },
  };
}

const bodiesOfUsers = Array.from({ length: users }, (_, at) =>
  JSON.stringify({
    variables: { name: 'a reader of the tide tables' },
    user: `user-${at}@example.com`,
  }),
);

function tableOf(all: readonly Series[]): Table {
  const series = (name: string) => {
    const found = all.find((one) => one.contender.name === name);
    if (!found) throw new Error(`${name} was not measured`);
    return found;
  };
  return {
    columns: [
      ...['', 'finished/s', 'of its base', 'µs CPU of an execution', 'of its base'],
      ...['more of PostgreSQL', 'more of the server'],
    ],
    rows: all.map((one) => {
      const { name } = one.contender;
      const { base = name } = compared.find((pair) => pair.name === name) ?? {};
      return [
        name,
        withRange(spread(one.samples.map(({ perSecond }) => perSecond)), whole),
        ...(base === name ? ['1'] : [withRange(ratios(one, series(base)), hundredths)]),
        withRange(spread(one.samples.map(micros)), whole),
        ...(base === name ? ['1', '', ''] : differences(one, series(base))),
      ];
    }),
  };
}

const micros = ({ cpu }: Sample) => cpu.server + cpu.store;

function differences({ samples }: Series, base: Series): string[] {
  const byRound = (of: (sample: Sample, base: Sample) => number): Spread =>
    spread(
      samples.flatMap((sample, round) => {
        const other = base.samples[round];
        return other ? of(sample, other) : [];
      }),
    );
  return [
    withRange(
      byRound((one, other) => micros(one) / micros(other)),
      hundredths,
    ),
    ...(['store', 'server'] as const).map((who) =>
      withRange(
        byRound((one, other) => one.cpu[who] - other.cpu[who]),
        whole,
      ),
    ),
  ];
}
