import { Argument, program } from 'commander';
import { shareCluster } from '../../harness/database.ts';
import { prepareFastStarts } from '../../harness/environment.ts';
import { keepFilesInMemory } from '../../harness/in-memory.ts';
import { onInterruption } from '../../harness/interruption.ts';
import { faults, faultySource, type TestedFault } from './faults.ts';
import { runTests } from './run-with-fault.ts';
import { problemWithoutFault, type Verdict, verdictOf } from './verdict.ts';

/**
 * `npm run test:faults [-- names...]` checks that the tests find each deliberate fault. First it runs the test files without
 * a fault: a test that fails anyway finds nothing. Then it runs the files of each fault in processes that change the source
 * while they load it (`proof/fault-loader.ts`). Unlike a changed copy of the sources, this leaves nothing on the disk, and
 * faults run at the same time with the same packages, caches and PostgreSQL.
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

// Throws if one does not match its source any more.
for (const fault of chosen) faultySource(fault);
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

function report({ name, description }: TestedFault, verdict: Verdict): void {
  // What comes after an interruption says nothing about the fault.
  if (signal.aborted) return;
  if ('foundBy' in verdict) found++;
  const line =
    'foundBy' in verdict ? `found by ${verdict.foundBy}` : `NOT FOUND: ${verdict.problem}`;
  console.log(`${name} (${description}):\n  ${line.replaceAll(/\s+/g, ' ').slice(0, 300)}`);
}
