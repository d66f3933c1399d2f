import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Argument, type Command, program } from 'commander';
import { writeOutput } from '../harness/output.ts';
import { wholeNumber } from '../src/cli/arguments.ts';
import type { Benchmark, BenchmarkOptions } from './benchmark.ts';
import { benchmarks } from './benchmarks.ts';
import { type CompareOptions, comparable, compare } from './compare.ts';
import { openEnvironment } from './environment.ts';
import { verdict } from './goals.ts';
import { machine } from './machine.ts';
import { markdown, type Table } from './table.ts';

/** Runs the chosen benchmarks one after the other, prints each report and writes it to `out/bench`. */

interface CommandOptions extends Omit<BenchmarkOptions, 'executions' | 'note'> {
  readonly executions?: number;
}

const byDefault = benchmarks.filter((one) => one.byDefault).map(({ name }) => name);
const commandLine = ['npm run bench', '--', ...process.argv.slice(2)].join(' ').replace(/ --$/, '');
const measured = new Map<string, readonly Table[]>();

program.name('npm run bench --');
withCounts(program.command('run', { isDefault: true }), 5)
  .description('Runs the benchmarks, prints each report and writes it to out/bench.')
  .addArgument(
    new Argument('[benchmarks...]', `default: ${byDefault.join(', ')}`).choices(
      benchmarks.map(({ name }) => name),
    ),
  )
  .option('--executions <n>', 'executions or workflow runs to insert first', wholeNumber)
  .action(async (names: string[], options: CommandOptions) => {
    const chosen = benchmarks.filter(({ name, ...one }) =>
      names.length === 0 ? one.byDefault : names.includes(name),
    );
    for (const benchmark of chosen) await measure(benchmark, options);
  });
withCounts(program.command('compare'), 9)
  .description('Compares this state of the source with another one, beside a pair of equal states.')
  .addArgument(new Argument('[benchmarks...]').choices(comparable).default(comparable))
  .requiredOption('--base <revision>', 'the other state, as Git names it')
  .action(async (names: string[], options: CompareOptions) => {
    const text = await compare(names, options);
    console.log(`\n${text}\n\n\`${commandLine}\``);
    writeOutput('bench/compare.md', text);
  });
await program.parseAsync();

function withCounts(command: Command, rounds: number): Command {
  return command
    .option('--rounds <n>', 'measured rounds; reports show the median', wholeNumber, rounds)
    .option('--seconds <n>', 'length of a timed round', wholeNumber, 4)
    .option('--requests <n>', 'requests of a counted round', wholeNumber, 20_000)
    .option('--connections <n>', 'concurrent clients', wholeNumber, 128);
}

/** In a fresh environment, so that benchmarks do not affect each other. */
async function measure(
  benchmark: Benchmark,
  { executions, ...options }: CommandOptions,
): Promise<void> {
  console.log(`\n${benchmark.name}`);
  const startedMs = performance.now();
  const environment = await openEnvironment({ statements: benchmark.statements ?? false });
  try {
    const tables = await benchmark.run(environment, {
      ...options,
      executions: executions ?? benchmark.executions ?? 0,
      note: (line) => console.log(`  ${line}`),
    });
    const goalChecks = benchmark.goalChecks?.(tables, measured) ?? [];
    measured.set(benchmark.name, tables);
    const tookSeconds = Math.round((performance.now() - startedMs) / 1_000);
    const text = [
      benchmark.description,
      ...(benchmark.goal ? [`Goal: ${benchmark.goal}.`] : []),
      ...(goalChecks.length > 0 ? [verdict(goalChecks)] : []),
      ...tables.map(markdown),
      [
        ...(await machine(environment)),
        `\`${commandLine}\`; figures with a range are from ${options.rounds} rounds; ${tookSeconds} s.`,
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
