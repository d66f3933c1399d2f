import { type Benchmark, type BenchmarkOptions, crowd, fromEach } from '../benchmark.ts';
import { ceiling, fastifyCeiling } from '../contenders/bare.ts';
import type { Contender } from '../contenders/contender.ts';
import { cueline } from '../contenders/cueline.ts';
import type { BenchEnvironment } from '../environment.ts';
import { figure } from '../goals.ts';
import { acceptFor } from '../measure.ts';
import { inAlternation } from '../rounds.ts';
import { type Table, throughput } from '../table.ts';

const serving = cueline({ name: 'Cueline, `api`', roles: ['api'] });
const servingAndWorking = cueline({ name: 'Cueline, `start`', roles: ['start'] });

export const accept: Benchmark = {
  name: 'accept',
  description:
    'Durable 202s per second in a closed loop, against a server that answers the same bytes and keeps nothing. ' +
    '`api` only accepts, and the runs pile up in the queue (which is emptied between rounds); `start` carries them out ' +
    'in the same process meanwhile, on a model that answers at once. The more callers, the larger the transactions.',
  goal: '`api` at least 0.5 of bare node:http, aim 0.65, from the usual 128 callers',
  goalChecks: ([usual]) => [
    { what: '`api`, of bare node:http', value: figure(usual, 'Cueline, `api`', 2), least: 0.5 },
  ],
  byDefault: true,
  async run(environment, how) {
    const contenders = [ceiling, fastifyCeiling, serving, servingAndWorking];
    const callers = [how.connections, how.connections * crowd];
    return fromEach(callers, how, (each) => answered(environment, contenders, each, '202s'));
  },
};

/** What the contenders answer in a closed loop, against the first of them. */
export async function answered(
  environment: BenchEnvironment,
  contenders: readonly Contender[],
  { rounds, seconds, connections }: BenchmarkOptions,
  unit: string,
): Promise<Table> {
  const entries = contenders.map((contender) => ({
    contender,
    measure: (opened: Parameters<typeof acceptFor>[1]) =>
      acceptFor(environment, opened, { connections, seconds }),
  }));
  const series = await inAlternation(environment, entries, rounds);
  return throughput(series, unit);
}
