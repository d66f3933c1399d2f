import { writeFile } from 'node:fs/promises';
import { CommandFailure, couldNotRunCode, Exit } from './command-failure.ts';
import { type DeclarationFile, type ExampleSuite, readDeclaration } from './declaration-file.ts';
import { junitReport } from './junit.ts';
import { oneLine, print, printList } from './print.ts';
import { withProgress } from './progress.ts';
import type { Call } from './run-call.ts';
import { type ExampleResult, runExamples } from './run-examples.ts';
import { declaredAgents, pinnedAgents } from './tested-agents.ts';

/**
 * `cueline test`: executes the examples of a file. Exit codes: 0 all passed, 1 some failed, 2 some could not be run, or
 * none at all.
 */

export interface TestOptions {
  readonly agent?: readonly string[];
  readonly pinned?: true;
  readonly concurrency?: number;
  /** In seconds. */
  readonly timeout?: number;
  readonly junit?: string;
}

const failedCode = 1;
const concurrencyDefault = 4;
const timeoutSeconds = 600;

export async function testExamples(call: Call, file: string, options: TestOptions): Promise<void> {
  const { concurrency = concurrencyDefault, timeout = timeoutSeconds, pinned, junit } = options;
  if (concurrency < 1) throw new CommandFailure('--concurrency must be at least 1.');
  const declared = await readDeclaration(file, call.signal);
  const suites = chosenSuites(declared, file, options.agent);
  const { slugs, remove } = pinned
    ? await pinnedAgents(call, suites)
    : await declaredAgents(call, declared, suites);
  const limits = { concurrency, timeoutMs: timeout * 1_000 };
  const count = suites.reduce((sum, { examples }) => sum + examples.length, 0);
  const work = runExamples(call, suites, { slugs }, limits).finally(remove);
  const results = await withProgress(`Executing ${count} examples`, work);
  if (junit !== undefined) await writeReport(junit, junitReport(results, file));
  await (call.json ? printJson(results) : printTable(results));
  if (results.some(({ status }) => status === 'error')) throw new Exit(couldNotRunCode);
  if (results.some(({ status }) => status === 'failed')) throw new Exit(failedCode);
}

function chosenSuites(
  { suites }: DeclarationFile,
  file: string,
  names: readonly string[] | undefined,
): readonly ExampleSuite[] {
  if (suites.length === 0) throw new CommandFailure(`${file} has no agent with examples.`);
  const isNamed = (name: string) => (suite: ExampleSuite) =>
    [suite.agent.name, suite.agent.slug].includes(name);
  const unknown = names?.find((name) => !suites.some(isNamed(name)));
  if (unknown !== undefined) {
    throw new CommandFailure(`${file} has no agent "${unknown}" with examples.`);
  }
  return names ? suites.filter((suite) => names.some((name) => isNamed(name)(suite))) : suites;
}

async function writeReport(file: string, text: string): Promise<void> {
  await writeFile(file, text).catch((error: Error) => {
    throw new CommandFailure(`Cannot write ${file}: ${error.message}`, { cause: error });
  });
}

async function printJson(results: readonly ExampleResult[]): Promise<void> {
  for (const result of results) await print(JSON.stringify(result));
}

async function printTable(results: readonly ExampleResult[]): Promise<void> {
  const rows = results.map(({ agent, example, status, record }) => ({
    agent,
    example,
    status,
    latencyMs: record?.latencyMs,
    costUSD: record?.costUSD,
  }));
  const columns = ['agent', 'example', 'status', 'latencyMs', 'costUSD'] as const;
  await printList(rows, columns, false);
  for (const { agent, example, line, problems } of results) {
    if (problems.length === 0) continue;
    await print(`\n${oneLine(`${agent}, ${example} (line ${line}):`)}`);
    for (const problem of problems) await print(oneLine(`  ${problem}`));
  }
  await print(`\n${summaryOf(results)}`);
}

function summaryOf(results: readonly ExampleResult[]): string {
  const names = { passed: 'passed', failed: 'failed', error: 'could not be run' };
  const counts = Object.entries(names).flatMap(([status, name]) => {
    const { length } = results.filter((one) => one.status === status);
    return length === 0 ? [] : [`${length} ${name}`];
  });
  return `${counts.join(', ')}.`;
}
