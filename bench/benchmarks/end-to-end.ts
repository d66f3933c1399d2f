import { type Benchmark, type BenchmarkOptions, crowd, fromEach } from '../benchmark.ts';
import { ceiling } from '../contenders/bare.ts';
import { cueline } from '../contenders/cueline.ts';
import type { BenchEnvironment } from '../environment.ts';
import { figure } from '../goals.ts';
import { acceptFor, finishAll } from '../measure.ts';
import { inAlternation } from '../rounds.ts';
import { type Table, throughput } from '../table.ts';

export const endToEnd: Benchmark = {
  name: 'end-to-end',
  description:
    'Finished runs per second on a model that answers at once (`cueline/echo`), in one process that serves and works: ' +
    'the clock stops when every record can be read with its outcome, statistics included.',
  goal: 'at least 0.4 of bare node:http, aim 0.55, from the usual 128 callers',
  goalChecks: ([usual]) => [
    { what: 'of bare node:http', value: figure(usual, 'Cueline, `start`', 2), least: 0.4 },
  ],
  byDefault: true,
  async run(environment, how) {
    const callers = [how.connections, how.connections * crowd];
    return fromEach(callers, how, (each) => finished(environment, each));
  },
};

async function finished(
  environment: BenchEnvironment,
  { rounds, seconds, requests, connections }: BenchmarkOptions,
): Promise<Table> {
  const series = await inAlternation(
    environment,
    [
      {
        contender: ceiling,
        measure: (opened) => acceptFor(environment, opened, { connections, seconds }),
      },
      {
        contender: cueline({ name: 'Cueline, `start`', roles: ['start'] }),
        measure: (opened) => finishAll(environment, opened, { connections, requests }),
      },
    ],
    rounds,
  );
  return throughput(series, 'finished');
}
