import { Argument, program } from 'commander';
import { shareCluster } from '../../harness/database.ts';
import { prepareFastStarts } from '../../harness/environment.ts';
import { keepFilesInMemory } from '../../harness/in-memory.ts';
import { onInterruption } from '../../harness/interruption.ts';
import { faults, type TestedFault } from './faults.ts';
import { type Results, runTests } from './run-tests.ts';

/**
 * `npm run test:faults [-- names...]` checks that the tests find each deliberate fault. First it runs the test files without
 * a fault: a test that fails anyway finds nothing. Then it runs the files of each fault in processes that change the source
 * while they load it (`proof/fault-loader.ts`). Unlike a changed copy of the sources, this leaves nothing on the disk, and
 * faults run at the same time with the same packages, caches and PostgreSQL.
 *
 * A fault is found if one test fails by an assertion and another one passes. So a fault that keeps the source from loading, or
 * that breaks everything, is not found.
 */

/** Tests wait more than they compute, so there are more processes than cores. */
const processes = 3;

const command = program
  .name('npm run test:faults --')
  .description(
    'Checks that the tests find each deliberate fault. Exits with 1 if one is not found.',
  )
  .addArgument(new Argument('[faults...]', 'default: all').choices(faults.map(({ name }) => name)))
  .parse();
const chosen = faults.filter(
  ({ name }) => command.args.length === 0 || command.args.includes(name),
);

await keepFilesInMemory();
await prepareFastStarts();
const cluster = await shareCluster();
const interruption = new AbortController();
onInterruption(() => interruption.abort());
const { signal } = interruption;
let found = 0;
try {
  const broken = new Map<string, string>();
  await inParallel([...new Set(chosen.flatMap(({ tests }) => tests))], async (file) => {
    const problem = problemWithoutFault(await runTests([file], null, signal));
    if (problem !== null) broken.set(file, `${file} fails without the fault: ${problem}`);
  });
  await inParallel(chosen, async (fault) => {
    const problem = fault.tests.flatMap((file) => broken.get(file) ?? [])[0];
    report(fault, problem ? { problem } : verdictOf(await runTests(fault.tests, fault, signal)));
  });
} finally {
  await cluster.stop();
}
console.log(`${found} of ${chosen.length} faults found`);
process.exitCode = found === chosen.length ? 0 : 1;

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const workers = Array.from({ length: processes }, async () => {
    for (const item of queue) await work(item);
  });
  await Promise.all(workers);
}

function problemWithoutFault({ passed, failures: [first] }: Results): string | null {
  if (first) return `${first.test}: ${first.message}`;
  return passed === 0 ? 'it has no tests' : null;
}

/** The test that found a fault, or why none did. */
type Verdict = { readonly foundBy: string } | { readonly problem: string };

function verdictOf({ passed, failures }: Results): Verdict {
  const [first] = failures;
  if (!first) return { problem: `all ${passed} tests pass` };
  const evidence = failures.find(({ asserted }) => asserted);
  if (!evidence) return { problem: `no assertion fails, but ${first.test}: ${first.message}` };
  if (passed === 0) return { problem: `no test passes; ${evidence.test}: ${evidence.message}` };
  return { foundBy: `${evidence.file} > ${evidence.test}` };
}

function report({ name, description }: TestedFault, verdict: Verdict): void {
  // What comes after an interruption says nothing about the fault.
  if (signal.aborted) return;
  if ('foundBy' in verdict) found++;
  const line =
    'foundBy' in verdict ? `found by ${verdict.foundBy}` : `NOT FOUND: ${verdict.problem}`;
  console.log(`${name} (${description}):\n  ${line.replaceAll(/\s+/g, ' ').slice(0, 300)}`);
}
