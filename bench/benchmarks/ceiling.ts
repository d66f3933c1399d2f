import type { Benchmark } from '../benchmark.ts';
import { ceiling as bareNode, fastifyCeiling } from '../contenders/bare.ts';
import { answered } from './accept.ts';

/** By itself; `accept` and `end-to-end` measure it again, side by side with what they compare. */
export const ceiling: Benchmark = {
  name: 'ceiling',
  description:
    'What HTTP alone costs here: the same request read, the same bytes answered, nothing kept.',
  byDefault: false,
  async run(environment, how) {
    return [await answered(environment, [bareNode, fastifyCeiling], how, 'answers')];
  },
};
