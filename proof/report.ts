import { type Found, percentile } from './claim.ts';

/** What was found, as it is printed and as it stands in the results. */

const violationsShown = 10;

export function reportOf(rounds: number, { counts, samplesMs = {}, violations }: Found): string {
  const lines = [
    `rounds: ${rounds}`,
    ...Object.entries(counts).map(([name, count]) => `${name}: ${count}`),
    ...Object.entries(samplesMs).map(([name, samples]) => `${name}: ${spread(samples)}`),
    violations.length === 0 ? 'holds' : `DOES NOT HOLD: ${violations.length} violations`,
    ...violations.slice(0, violationsShown),
  ];
  return lines.map((line) => `  ${line}`).join('\n');
}

function spread(samples: readonly number[]): string {
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => Math.round(percentile(samples, share)));
  return `p50 ${p50} ms, p99 ${p99} ms, at most ${max} ms (${samples.length} samples)`;
}
