import {
  type Benchmark,
  type BenchmarkOptions,
  forEachClientCount,
  manyClientsFactor,
} from '../benchmark.ts';
import { ceiling, fastifyCeiling } from '../contenders/bare.ts';
import type { Contender, Opened } from '../contenders/contender.ts';
import { cueline } from '../contenders/cueline.ts';
import type { BenchEnvironment } from '../environment.ts';
import { figure } from '../goals.ts';
import { acceptFor } from '../measure.ts';
import { inAlternation } from '../rounds.ts';
import { type Table, throughput } from '../table.ts';

export const accept: Benchmark = {
  name: 'accept',
  description:
    'Durable 202s per second in a closed loop, compared with a server that sends the same bytes and stores nothing. ' +
    '`api` only accepts, and the queue grows (it is truncated between rounds). `start` also executes in the same process, ' +
    'with a model that responds immediately. The more clients, the larger the transactions.',
  goal: '`api` at least 0.5 of bare node:http, target 0.65, with the default 128 clients',
  goalChecks: ([usual]) => [
    { what: '`api`, of bare node:http', value: figure(usual, 'Cueline, `api`', 2), least: 0.5 },
  ],
  byDefault: true,
  async run(environment, options) {
    const contenders = [
      ceiling,
      fastifyCeiling,
      cueline({ name: 'Cueline, `api`', roles: ['api'] }),
      cueline({ name: 'Cueline, `start`', roles: ['start'] }),
    ];
    const counts = [options.connections, options.connections * manyClientsFactor];
    return forEachClientCount(counts, options, (each) =>
      measureResponses(environment, contenders, each, '202s'),
    );
  },
};

/** Responses per second in a closed loop, relative to the first contender. */
export async function measureResponses(
  environment: BenchEnvironment,
  contenders: readonly Contender[],
  { rounds, seconds, connections }: BenchmarkOptions,
  unit: string,
): Promise<Table> {
  const entries = contenders.map((contender) => ({
    contender,
    measure: (opened: Opened) => acceptFor(environment, opened, { connections, seconds }),
  }));
  const series = await inAlternation(environment, entries, rounds);
  return throughput(series, unit);
}
