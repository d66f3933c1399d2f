import { join } from 'node:path';
import { machineLine, type ResultsFile } from '../harness/results.ts';
import { type Claim, type Found, percentile } from './claim.ts';
import { claims } from './claims.ts';

/** What was found, as it is printed and as it stands in the results. */

/** A section for each claim of which all rounds were made. */
export const results: ResultsFile = {
  path: join(import.meta.dirname, 'RESULTS.md'),
  intro: `# Results

What the full rounds of each claim came to, written by \`npm run proof -- --full\`; what each claim holds is told in
[docs/proof.md](../docs/proof.md). The machine is shared with others, and everything runs on it: the processes, PostgreSQL, the
clients and the provider. *Sources* is a digest of \`src\`, \`proof\`, \`test/harness\`
and the provider as they were then.
`,
  order: claims.map(({ name }) => name),
};

const violationsShown = 10;

export function reportOf(rounds: number, found: Found): string {
  const { violations } = found;
  const lines = [
    ...figures(rounds, found),
    violations.length === 0 ? 'holds' : `DOES NOT HOLD: ${violations.length} violations`,
    ...violations.slice(0, violationsShown),
  ];
  return lines.map((line) => `  ${line}`).join('\n');
}

/** Markdown; `sources` tells results of the same state from others. */
export function sectionOf(
  { name, says }: Claim,
  { rounds, found, sources }: { rounds: number; found: Found; sources: string },
): string {
  const { violations } = found;
  const [first] = violations;
  return [
    `${says[0]?.toUpperCase()}${says.slice(1)}: **${first ? 'does not hold' : 'holds'}**.`,
    figures(rounds, found)
      .map((line) => `- ${line}`)
      .join('\n'),
    ...(first ? [`Violations: ${violations.length}, the first: ${first}`] : []),
    `\`npm run proof -- ${name} --full\`; sources ${sources}; ${machineLine()}`,
  ].join('\n\n');
}

function figures(rounds: number, { counts, samplesMs = {} }: Found): string[] {
  return [
    `rounds: ${count(rounds)}`,
    ...Object.entries(counts).map(([name, value]) => `${name}: ${count(value)}`),
    ...Object.entries(samplesMs).map(([name, samples]) => `${name}: ${spread(samples)}`),
  ];
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}

function spread(samples: readonly number[]): string {
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => Math.round(percentile(samples, share)));
  return `p50 ${p50} ms, p99 ${p99} ms, at most ${max} ms (${samples.length} samples)`;
}
