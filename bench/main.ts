import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { keepSection, readSection } from '../test/harness/results.ts';
import { openBed } from './bed.ts';
import type { Benchmark, How } from './benchmark.ts';
import { benchmarks } from './benchmarks.ts';
import { verdict } from './goals.ts';
import { machine } from './machine.ts';
import { results } from './results.ts';
import { markdown, type Table, tablesIn } from './table.ts';

/**
 * `npm run bench -- [NAME…] [--rounds N] [--seconds S] [--requests N] [--connections N] [--runs N] [--dry]`: measures,
 * prints, and writes each section of `RESULTS.md` as soon as it is there; `--dry` only prints.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    requests: { type: 'string', default: '20000' },
    connections: { type: 'string', default: '128' },
    runs: { type: 'string' },
    dry: { type: 'boolean', default: false },
  },
});
const unknown = positionals.filter((name) => !benchmarks.some((one) => one.name === name));
if (unknown.length > 0) {
  console.error(`No such benchmark: ${unknown.join(', ')}.`);
  console.error(`There are ${benchmarks.map(({ name }) => name).join(', ')}.`);
  process.exit(2);
}
const given: Omit<How, 'runs'> = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  requests: Number(values.requests),
  connections: Number(values.connections),
  note: (line) => console.log(`  ${line}`),
};
const chosen = benchmarks.filter(({ name, byDefault }) =>
  positionals.length === 0 ? byDefault : positionals.includes(name),
);
const command = ['npm run bench', '--', ...process.argv.slice(2)].join(' ').replace(/ --$/, '');

for (const benchmark of chosen) await measure(benchmark);

/** On a bed of its own: no benchmark finds what another left behind. */
async function measure(benchmark: Benchmark): Promise<void> {
  console.log(`\n${benchmark.name}`);
  const begun = performance.now();
  const how: How = { ...given, runs: Number(values.runs ?? benchmark.runs ?? 0) };
  const bed = await openBed({ statements: benchmark.statements ?? false });
  try {
    const tables = await benchmark.run(bed, how);
    const tookSeconds = Math.round((performance.now() - begun) / 1_000);
    const text = [
      benchmark.says,
      ...(benchmark.goal ? [`Goal: ${benchmark.goal}.`] : []),
      ...(benchmark.marks ? [verdict(benchmark.marks(tables, kept))] : []),
      ...tables.map(markdown),
      [
        ...(await machine(bed)),
        `\`${command}\`; figures with a range are of ${how.rounds} rounds; ${tookSeconds} s.`,
      ].join('\n'),
    ].join('\n\n');
    console.log(`\n${text}`);
    if (!values.dry) keepSection(results, benchmark.name, text);
  } catch (error) {
    for (const line of lastWords(bed.directory)) console.error(line);
    throw error;
  } finally {
    await bed.close();
  }
}

function kept(name: string): Table[] {
  return tablesIn(readSection(results, name) ?? '');
}

/** What the servers wrote last: their logs go with the bed. */
function lastWords(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.log'))
    .map((name) => `${name}: ${readFileSync(join(directory, name), 'utf8').slice(-4_000)}`);
}
