import type { Benchmark } from '../benchmark.ts';
import { ceiling as bareNode, fastifyCeiling } from '../contenders/bare.ts';
import { acceptFor } from '../measure.ts';
import { inAlternation } from '../rounds.ts';
import { throughput } from '../table.ts';

/** By itself; `accept` and `end-to-end` measure it again, side by side with what they compare. */
export const ceiling: Benchmark = {
  name: 'ceiling',
  says: 'What HTTP alone costs here: the same request read, the same bytes answered, nothing kept.',
  byDefault: false,
  async run(bed, { rounds, seconds, connections }) {
    const entries = [bareNode, fastifyCeiling].map((contender) => ({
      contender,
      measure: (opened: Parameters<typeof acceptFor>[1]) =>
        acceptFor(bed, opened, { connections, seconds }),
    }));
    const series = await inAlternation(bed, entries, rounds);
    const [base] = series;
    return base ? [throughput(series, base, 'answers')] : [];
  },
};
