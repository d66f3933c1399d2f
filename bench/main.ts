import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Argument, program } from 'commander';
import { writeOutput } from '../harness/output.ts';
import { wholeNumber } from '../src/cli/arguments.ts';
import type { Benchmark, BenchmarkOptions } from './benchmark.ts';
import { benchmarks } from './benchmarks.ts';
import { openEnvironment } from './environment.ts';
import { verdict } from './goals.ts';
import { machine } from './machine.ts';
import { markdown, type Table } from './table.ts';

/** Runs the chosen benchmarks one after the other, prints each report and writes it to `out/bench`. */

interface Asked extends Omit<BenchmarkOptions, 'runs' | 'note'> {
  readonly runs?: number;
}

const byDefault = benchmarks.filter((one) => one.byDefault).map(({ name }) => name);
const asked = program
  .name('npm run bench --')
  .description('Runs the benchmarks, prints each report and writes it to out/bench.')
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
  .parse();
const { runs, ...numbers } = asked.opts<Asked>();
const given: Omit<BenchmarkOptions, 'runs'> = {
  ...numbers,
  note: (line) => console.log(`  ${line}`),
};
const chosen = benchmarks.filter(({ name, ...one }) =>
  asked.args.length === 0 ? one.byDefault : asked.args.includes(name),
);
const command = ['npm run bench', '--', ...process.argv.slice(2)].join(' ').replace(/ --$/, '');

const measured = new Map<string, readonly Table[]>();
for (const benchmark of chosen) await measure(benchmark);

/** In a fresh environment, so that benchmarks do not affect each other. */
async function measure(benchmark: Benchmark): Promise<void> {
  console.log(`\n${benchmark.name}`);
  const begun = performance.now();
  const how: BenchmarkOptions = { ...given, runs: runs ?? benchmark.runs ?? 0 };
  const environment = await openEnvironment({ statements: benchmark.statements ?? false });
  try {
    const tables = await benchmark.run(environment, how);
    const goalChecks = benchmark.goalChecks?.(tables, measured) ?? [];
    measured.set(benchmark.name, tables);
    const tookSeconds = Math.round((performance.now() - begun) / 1_000);
    const text = [
      benchmark.description,
      ...(benchmark.goal ? [`Goal: ${benchmark.goal}.`] : []),
      ...(goalChecks.length > 0 ? [verdict(goalChecks)] : []),
      ...tables.map(markdown),
      [
        ...(await machine(environment)),
        `\`${command}\`; figures with a range are of ${how.rounds} rounds; ${tookSeconds} s.`,
      ].join('\n'),
    ].join('\n\n');
    console.log(`\n${text}`);
    writeOutput(`bench/${benchmark.name}.md`, `# ${benchmark.name}\n\n${text}`);
  } catch (error) {
    for (const line of lastLogLines(environment.directory)) console.error(line);
    throw error;
  } finally {
    await environment.close();
  }
}

/** The end of the servers' logs, which are deleted with the environment. */
function lastLogLines(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.log'))
    .map((name) => `${name}: ${readFileSync(join(directory, name), 'utf8').slice(-4_000)}`);
}
