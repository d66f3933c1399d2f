import {
  type Benchmark,
  type BenchmarkOptions,
  forEachClientCount,
  manyClientsFactor,
} from '../benchmark.ts';
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
    'Ended executions per second with a model that responds immediately (`cueline/echo`), in one process with both roles. ' +
    'The clock stops when every record and its statistics are readable.',
  goal: 'at least 0.4 of bare node:http, target 0.55, with the default 128 clients',
  goalChecks: ([usual]) => [
    { what: 'of bare node:http', value: figure(usual, 'Cueline, `start`', 2), least: 0.4 },
  ],
  byDefault: true,
  async run(environment, options) {
    const counts = [options.connections, options.connections * manyClientsFactor];
    return forEachClientCount(counts, options, (each) => finished(environment, each));
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
