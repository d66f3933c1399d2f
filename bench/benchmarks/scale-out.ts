import type { Benchmark } from '../benchmark.ts';
import { cueline } from '../contenders/cueline.ts';
import { finishAll } from '../measure.ts';
import { inAlternation } from '../rounds.ts';
import { throughput } from '../table.ts';

export const scaleOut: Benchmark = {
  name: 'scale-out',
  description:
    'Finished runs per second, as in `end-to-end`, by 1, 2 and 4 `api` processes with as many `worker` processes on one ' +
    'PostgreSQL. The load is spread over the first; with two cores for everything there is nothing to gain.',
  byDefault: true,
  async run(environment, { rounds, requests, connections }) {
    const forms = [1, 2, 4].map((count) =>
      cueline({
        name: `${count} + ${count}`,
        roles: [
          ...Array.from({ length: count }, () => 'api' as const),
          ...Array.from({ length: count }, () => 'worker' as const),
        ],
      }),
    );
    const entries = [cueline({ name: '`start`', roles: ['start'] }), ...forms].map((contender) => ({
      contender,
      measure: (opened: Parameters<typeof finishAll>[1]) =>
        finishAll(environment, opened, { connections, requests }),
    }));
    const series = await inAlternation(environment, entries, rounds);
    return [throughput(series, 'finished')];
  },
};
