import { availableParallelism, loadavg } from 'node:os';
import { Argument, program } from 'commander';
import { shareCluster } from '../harness/database.ts';
import { prepareFastStarts } from '../harness/environment.ts';
import { writeOutput } from '../harness/output.ts';
import { wholeNumber } from '../src/cli/arguments.ts';
import { type Claim, type Found, sumUp } from './claim.ts';
import { claims } from './claims.ts';
import { proveOn } from './prove.ts';
import { reportOf, summaryOf } from './report.ts';

interface Options {
  readonly full?: true;
  readonly fault?: string;
  readonly faults?: true;
  readonly rounds?: number;
}

const command = program
  .name('npm run proof --')
  .description('Checks the claims one after the other. Exits with 1 if one does not hold.')
  .addArgument(new Argument('[claims...]', 'default: all').choices(claims.map(({ name }) => name)))
  .option('--full', 'all rounds; takes hours')
  .option('--fault <name>', 'run the processes with this deliberate fault and show what is found')
  .option('--faults', 'run a few rounds with each fault; exit with 1 if one is not found')
  .option('--rounds <n>', 'the number of rounds', wholeNumber)
  .parse();
const options = command.opts<Options>();
const chosen = claims.filter(
  ({ name }) => command.args.length === 0 || command.args.includes(name),
);
const fault = chosen.flatMap(({ faults }) => faults).find(({ name }) => name === options.fault);
if (options.fault !== undefined && !fault) {
  command.error(`Unknown fault "${options.fault}" for these claims.`, { exitCode: 2 });
}
const defaultLeaseMs = 6_000;

await prepareFastStarts();
const cluster = await shareCluster({ durable: true });
let holds = true;
try {
  for (const claim of chosen) {
    const missing = claim.missing?.() ?? null;
    if (missing !== null) {
      console.log(`\n${claim.name}: skipped: ${missing}`);
      continue;
    }
    holds = (options.faults ? await findFaults(claim) : await prove(claim)) && holds;
  }
} finally {
  await cluster.stop();
}
process.exitCode = holds ? 0 : 1;

async function findFaults(claim: Claim): Promise<boolean> {
  let allFound = true;
  for (const one of claim.faults) {
    const found = await proveOn({ fault: one, seed: 1 }, claim, one.rounds ?? claim.rounds.test);
    const missedGoals = one.late ? (claim.checkGoals?.(found) ?? []) : [];
    const [violation] = [...found.violations, ...missedGoals];
    console.log(`${claim.name} with ${one.name} (${one.description}):`);
    console.log(`  ${violation?.slice(0, 200) ?? 'NOT FOUND'}`);
    if (violation === undefined) allFound = false;
  }
  return allFound;
}

async function prove(claim: Claim): Promise<boolean> {
  const rounds = options.rounds ?? claim.rounds[options.full ? 'full' : 'short'];
  console.log(`\n${claim.name}: ${claim.description}`);
  const startedMs = performance.now();
  const found = await proveRounds(claim, rounds);
  const notMeasured = Object.entries(found.samplesMs ?? {})
    .filter(([, samples]) => samples.length === 0)
    .map(([name]) => `${name}: no samples`);
  const violations = [...found.violations, ...notMeasured, ...(claim.checkGoals?.(found) ?? [])];
  const judged = { ...found, violations };
  console.log(summaryOf(rounds, judged));
  console.log(`  ${duration(performance.now() - startedMs)}`);
  writeOutput(`proof/${claim.name}.md`, reportOf(claim, rounds, judged));
  return violations.length === 0;
}

/** In groups, each in a fresh environment. */
async function proveRounds(claim: Claim, rounds: number): Promise<Found> {
  const found: Found[] = [];
  for (let done = 0; done < rounds; ) {
    const now = Math.min(claim.roundsPerEnvironment, rounds - done);
    // A round takes ten times as long with the default lease.
    const useDefaultLease =
      options.full && (claim.defaultLease || done % (10 * claim.roundsPerEnvironment) === 0);
    found.push(
      await proveOn(
        {
          fault: fault ?? null,
          seed: done + 1,
          ...(useDefaultLease && { leaseMs: defaultLeaseMs }),
        },
        claim,
        now,
      ),
    );
    done += now;
    if (done < rounds) console.log(`  ${done} of ${rounds} rounds`);
  }
  return sumUp(found);
}

/** With the load of the machine, because latencies depend on it. */
function duration(ms: number): string {
  const load = loadavg()[0]?.toFixed(1);
  return `${Math.round(ms / 1_000)} s; load average ${load} on ${availableParallelism()} cores`;
}
