import { describeMachine } from '../harness/output.ts';
import { type Claim, type Found, percentile } from './claim.ts';

const violationsShown = 10;

/** Plain text for the terminal. */
export function summaryOf(rounds: number, found: Found): string {
  const { violations } = found;
  const lines = [
    ...figures(rounds, found),
    violations.length === 0 ? 'holds' : `DOES NOT HOLD: ${violations.length} violations`,
    ...violations.slice(0, violationsShown),
  ];
  return lines.map((line) => `  ${line}`).join('\n');
}

/** Markdown, with every violation. */
export function reportOf({ name, description }: Claim, rounds: number, found: Found): string {
  const { violations } = found;
  return [
    `# ${name}`,
    `${description}: **${violations.length === 0 ? 'holds' : 'does not hold'}**.`,
    bullets(figures(rounds, found)),
    ...(violations.length > 0 ? [`Violations: ${violations.length}`, bullets(violations)] : []),
    describeMachine(),
  ].join('\n\n');
}

function figures(rounds: number, { counts, samplesMs = {} }: Found): string[] {
  return [
    `rounds: ${formatCount(rounds)}`,
    ...Object.entries(counts).map(([name, value]) => `${name}: ${formatCount(value)}`),
    ...Object.entries(samplesMs).map(([name, samples]) => `${name}: ${percentiles(samples)}`),
  ];
}

function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n');
}

function formatCount(value: number): string {
  return value.toLocaleString('en-US');
}

function percentiles(samples: readonly number[]): string {
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => Math.round(percentile(samples, share)));
  return `p50 ${p50} ms, p99 ${p99} ms, max ${max} ms (${samples.length} samples)`;
}
