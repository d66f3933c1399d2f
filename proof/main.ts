import { availableParallelism, loadavg } from 'node:os';
import { Argument, program } from 'commander';
import { startCluster } from '../harness/cluster.ts';
import { addressVariable } from '../harness/database.ts';
import { makeStartsCheap } from '../harness/environment.ts';
import { keepSection } from '../harness/results.ts';
import { wholeNumber } from '../src/cli/arguments.ts';
import { addUp, type Claim, type Found } from './claim.ts';
import { claims } from './claims.ts';
import { keep, kept, sources } from './progress.ts';
import { proveOn } from './prove.ts';
import { reportOf, results, sectionOf } from './report.ts';

/** Puts the claims to the proof, one after the other, and ends with 1 where one does not hold. */

interface Asked {
  readonly full?: true;
  readonly anew?: true;
  readonly fault?: string;
  readonly faults?: true;
  readonly rounds?: number;
}

const command = program
  .name('npm run proof --')
  .description(
    'Puts the claims to the proof, one after the other; ends with 1 where one does not hold.',
  )
  .addArgument(
    new Argument('[claims...]', 'all unless given').choices(claims.map(({ name }) => name)),
  )
  .option(
    '--full',
    'all rounds; goes on where it was stopped, and writes a section of proof/RESULTS.md',
  )
  .option('--anew', 'with --full: forget the rounds that were made before')
  .option('--fault <name>', 'break this on purpose, and show what is found')
  .option('--faults', 'a few rounds with each fault; ends with 1 where one is not found')
  .option('--rounds <n>', 'so many rounds instead, of which nothing is kept', wholeNumber)
  .parse();
const values = command.opts<Asked>();
const chosen = claims.filter(
  ({ name }) => command.args.length === 0 || command.args.includes(name),
);
const fault = chosen.flatMap(({ faults }) => faults).find(({ name }) => name === values.fault);
if (values.fault !== undefined && !fault) {
  command.error(`The chosen claims know no fault ${values.fault}.`, { exitCode: 2 });
}
const resumable = values.full && values.fault === undefined && values.rounds === undefined;
const shippedLeaseMs = 6_000;
await makeStartsCheap();
const cluster = await startCluster();
process.env[addressVariable] = JSON.stringify(cluster.admin);
let holds = true;
try {
  for (const claim of values.faults ? chosen : []) {
    for (const one of claim.faults) {
      const found = await proveOn({ fault: one, seed: 1 }, claim, one.rounds ?? claim.rounds.test);
      const missed = one.late ? (claim.judge?.(found) ?? []) : [];
      const violations = [...found.violations, ...missed];
      console.log(`${claim.name} with ${one.name} (${one.says}):`);
      console.log(`  ${violations[0]?.slice(0, 200) ?? 'NOT FOUND'}`);
      if (violations.length === 0) holds = false;
    }
  }
  for (const claim of values.faults ? [] : chosen) {
    const rounds = values.rounds ?? claim.rounds[values.full ? 'full' : 'short'];
    console.log(`\n${claim.name}: ${claim.says}`);
    const begunMs = performance.now();
    const found = await proveInParts(claim, rounds);
    const unseen = Object.entries(found.samplesMs ?? {}).filter(
      ([, samples]) => samples.length === 0,
    );
    const violations = [
      ...found.violations,
      ...unseen.map(([name]) => `${name}: nothing was measured`),
      ...(claim.judge?.(found) ?? []),
    ];
    const judged = { ...found, violations };
    console.log(reportOf(rounds, judged));
    if (resumable) {
      keepSection(results, claim.name, sectionOf(claim, { rounds, found: judged, sources }));
    }
    console.log(`  ${took(performance.now() - begunMs)}`);
    if (violations.length > 0) holds = false;
  }
} finally {
  await cluster.stop();
}
process.exitCode = holds ? 0 : 1;

/** What was measured in milliseconds says nothing without what else the machine had to do. */
function took(ms: number): string {
  const load = loadavg()[0]?.toFixed(1);
  return `took ${Math.round(ms / 1_000)} s; in the last minute ${load} processes wanted ${availableParallelism()} cores`;
}

/** Part by part, each on fresh ground and kept as soon as it is done. */
async function proveInParts(claim: Claim, rounds: number): Promise<Found> {
  const done = resumable && !values.anew ? kept(claim.name) : [];
  let made = done.reduce((sum, part) => sum + part.rounds, 0);
  if (made > 0) console.log(`  ${made} of ${rounds} rounds were made before`);
  const found = done.map((part) => part.found);
  while (made < rounds) {
    const now = Math.min(claim.roundsPerGround, rounds - made);
    // A round takes ten times as long with it.
    const withShippedLease =
      values.full && (claim.shippedLease || made % (10 * claim.roundsPerGround) === 0);
    const options = {
      fault: fault ?? null,
      seed: made + 1,
      ...(withShippedLease && { leaseMs: shippedLeaseMs }),
    };
    const part = await proveOn(options, claim, now);
    found.push(part);
    if (resumable) keep(claim.name, { rounds: now, found: part });
    made += now;
    if (made < rounds) console.log(`  ${made} of ${rounds} rounds`);
  }
  return addUp(found);
}
