import { join } from 'node:path';
import type { ResultsFile } from '../harness/results.ts';
import { benchmarks } from './benchmarks.ts';

/** A section for each benchmark. */
export const results: ResultsFile = {
  path: join(import.meta.dirname, 'RESULTS.md'),
  intro: `# Results

Written by \`npm run bench\`; what is measured and how is told in [README.md](README.md). Every figure is the median of its
rounds, with the lowest and the highest in brackets; ratios are taken within each round. Below each goal stands what of it the
medians meet and what they miss; why \`accept\`, \`end-to-end\`, \`polls\`, \`latency\`, \`workflow-steps\` and \`peers\` miss theirs is told in
[decision 10](../docs/decisions/0010-where-the-time-goes.md), and why \`history\` and \`workflow-history\` do in
[decision 11](../docs/decisions/0011-a-history-is-counted.md).
`,
  order: benchmarks.map(({ name }) => name),
};
