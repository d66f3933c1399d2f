import type { Benchmark } from '../benchmark.ts';
import type { Opened } from '../contenders/contender.ts';
import { cueline } from '../contenders/cueline.ts';
import { finishAll } from '../measure.ts';
import { inAlternation } from '../rounds.ts';
import { throughput } from '../table.ts';

export const scaleOut: Benchmark = {
  name: 'scale-out',
  description:
    'Ended executions per second, as in `end-to-end`, of 1, 2 and 4 `api` processes with as many `worker` processes on one ' +
    'PostgreSQL. The load is spread over the `api` processes. Two cores leave nothing to gain.',
  byDefault: true,
  async run(environment, { rounds, requests, connections }) {
    const setups = [1, 2, 4].map((count) =>
      cueline({
        name: `${count} + ${count}`,
        roles: (['api', 'worker'] as const).flatMap((role) => Array(count).fill(role)),
      }),
    );
    const entries = [cueline({ name: '`start`', roles: ['start'] }), ...setups].map(
      (contender) => ({
        contender,
        measure: (opened: Opened) => finishAll(environment, opened, { connections, requests }),
      }),
    );
    const series = await inAlternation(environment, entries, rounds);
    return [throughput(series, 'finished')];
  },
};
