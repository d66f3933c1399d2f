import type { Benchmark } from '../benchmark.ts';
import { ceiling as bareNode, fastifyCeiling } from '../contenders/bare.ts';
import { measureResponses } from './accept.ts';

/** `accept` and `end-to-end` measure it again, alternating with their contenders. */
export const ceiling: Benchmark = {
  name: 'ceiling',
  description:
    'The cost of HTTP alone: the server reads the same request, sends the same bytes and stores nothing.',
  byDefault: false,
  async run(environment, options) {
    return [await measureResponses(environment, [bareNode, fastifyCeiling], options, 'responses')];
  },
};
