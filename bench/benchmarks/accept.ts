import type { Benchmark } from '../benchmark.ts';
import { ceiling, fastifyCeiling } from '../contenders/bare.ts';
import { cueline } from '../contenders/cueline.ts';
import { acceptFor } from '../measure.ts';
import { inAlternation } from '../rounds.ts';
import { throughput } from '../table.ts';

const serving = cueline({ name: 'Cueline, `api`', roles: ['api'] });
const servingAndWorking = cueline({ name: 'Cueline, `start`', roles: ['start'] });

export const accept: Benchmark = {
  name: 'accept',
  says:
    'Durable 202s per second in a closed loop, against a server that answers the same bytes and keeps nothing. ' +
    '`api` only accepts, and the runs pile up in the queue (which is emptied between rounds); `start` carries them out ' +
    'in the same process meanwhile, on a model that answers at once.',
  goal: '`api` at least 0.5 of bare node:http, aim 0.65',
  byDefault: true,
  async run(bed, { rounds, seconds, connections }) {
    const entries = [ceiling, fastifyCeiling, serving, servingAndWorking].map((contender) => ({
      contender,
      measure: (opened: Parameters<typeof acceptFor>[1]) =>
        acceptFor(bed, opened, { connections, seconds }),
    }));
    const series = await inAlternation(bed, entries, rounds);
    const [base] = series;
    return base ? [throughput(series, base, '202s')] : [];
  },
};
