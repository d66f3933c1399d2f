import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Argument, program } from 'commander';
import { keepSection, readSection } from '../harness/results.ts';
import { wholeNumber } from '../src/cli/arguments.ts';
import { openBed } from './bed.ts';
import type { Benchmark, How } from './benchmark.ts';
import { benchmarks } from './benchmarks.ts';
import { verdict } from './goals.ts';
import { machine } from './machine.ts';
import { results } from './results.ts';
import { markdown, type Table, tablesIn } from './table.ts';

/** Measures, prints, and writes each section of `RESULTS.md` as soon as it is there. */

interface Asked extends Omit<How, 'runs' | 'note'> {
  readonly runs?: number;
  readonly dry?: true;
}

const byDefault = benchmarks.filter((one) => one.byDefault).map(({ name }) => name);
const asked = program
  .name('npm run bench --')
  .description(
    'Measures, prints, and writes each section of bench/RESULTS.md as soon as it is there.',
  )
  .addArgument(
    new Argument('[benchmarks...]', `unless given ${byDefault.join(', ')}`).choices(
      benchmarks.map(({ name }) => name),
    ),
  )
  .option('--rounds <n>', 'rounds of each, of which the median is told', wholeNumber, 5)
  .option('--seconds <n>', 'how long a round takes', wholeNumber, 4)
  .option('--requests <n>', 'in a round that is counted instead', wholeNumber, 20_000)
  .option('--connections <n>', 'callers at once', wholeNumber, 128)
  .option('--runs <n>', 'rows to fill tables with, where a benchmark does', wholeNumber)
  .option('--dry', 'print, and write nothing')
  .parse();
const { runs, dry, ...numbers } = asked.opts<Asked>();
const given: Omit<How, 'runs'> = { ...numbers, note: (line) => console.log(`  ${line}`) };
const chosen = benchmarks.filter(({ name, ...one }) =>
  asked.args.length === 0 ? one.byDefault : asked.args.includes(name),
);
const command = ['npm run bench', '--', ...process.argv.slice(2)].join(' ').replace(/ --$/, '');

for (const benchmark of chosen) await measure(benchmark);

/** On a bed of its own: no benchmark finds what another left behind. */
async function measure(benchmark: Benchmark): Promise<void> {
  console.log(`\n${benchmark.name}`);
  const begun = performance.now();
  const how: How = { ...given, runs: runs ?? benchmark.runs ?? 0 };
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
    if (!dry) keepSection(results, benchmark.name, text);
  } catch (error) {
    for (const line of flushStderr(bed.directory)) console.error(line);
    throw error;
  } finally {
    await bed.close();
  }
}

function kept(name: string): Table[] {
  return tablesIn(readSection(results, name) ?? '');
}

/** What the servers wrote last: their logs go with the bed. */
function flushStderr(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.log'))
    .map((name) => `${name}: ${readFileSync(join(directory, name), 'utf8').slice(-4_000)}`);
}
