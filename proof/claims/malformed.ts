import type { Socket } from 'node:net';
import fc from 'fast-check';
import { type CuelineProcess, hasEnded } from '../../harness/process.ts';
import { type Claim, percentile } from '../claim.ts';
import type { Attack } from '../malformed/attack.ts';
import { attacks, fixedAttacks } from '../malformed/attacks.ts';
import { checkResponses, exportsFull } from '../malformed/response-checks.ts';
import { checkHealth, createTargets, memoryKiB, responds } from '../malformed/target.ts';
import { send } from '../malformed/wire.ts';

/** Malformed requests over raw sockets to one process with both roles. A round is a request. */
export const malformed: Claim = {
  name: 'malformed',
  description:
    'Every malformed request gets one well-formed response without a 5xx; memory stays flat, and the process continues to work',
  rounds: { test: 600, short: 10_000, full: 100_000 },
  roundsPerEnvironment: 100_000,
  faults: [
    {
      name: 'accepted-nul',
      description: 'a NUL reaches the database',
      file: 'core/json.ts',
      find: "if (value.includes('\\0') || !value.isWellFormed()) return false;",
      replace: 'if (!value.isWellFormed()) return false;',
    },
    {
      name: 'lenient-parser',
      description: 'ambiguous requests are parsed leniently',
      file: 'http/server.ts',
      find: 'requireHostHeader: false,',
      replace: 'requireHostHeader: false, insecureHTTPParser: true,',
    },
    {
      name: 'unhandled-reset',
      description: 'errors of upgraded connections are not handled',
      file: 'http/connection/drain-socket.ts',
      find: "socket.on('error', () => {});",
      replace: '',
    },
  ],
  async prove(environment, rounds) {
    // With a short lease, a stalled machine would look like a silent database.
    const env = { CUELINE_SLOTS: '50', CUELINE_LOG_LEVEL: 'warn', CUELINE_LEASE_MS: '60000' };
    const process = await environment.spawn('start', env);
    const port = Number(new URL(process.url).port);
    const violations: string[] = [];
    const statuses = new Map<number, number>();
    const open = new Set<Socket>();
    /** After each batch of the second half: the first half warms up. */
    const memory: number[] = [];
    let sent = 0;
    while (sent < rounds && violations.length < violationsMax && (await responds(process))) {
      // New targets, because attacks delete agents and lower plans.
      const targets = await createTargets(environment, process.url);
      const fixed = sent === 0 ? fixedAttacks(targets) : [];
      const numRuns = Math.min(batchSize, rounds - sent) - fixed.length;
      const seed = Math.floor(environment.random() * 2 ** 31);
      const batch = [...fixed, ...fc.sample(attacks(targets), { numRuns, seed })];
      await inParallel(batch, async (attack) => {
        if (violations.length >= violationsMax) return;
        const received = await send(port, attack, open);
        for (const { status } of received.answers)
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (violations.length >= violationsMax) return;
        violations.push(...checkResponses(attack, received));
        // The other attacks may wait long for their responses.
        if (violations.length >= violationsMax) for (const socket of open) socket.destroy();
      });
      sent += batch.length;
      const now = sent >= rounds / 2 ? await memoryKiB(process) : null;
      if (now !== null) memory.push(now);
    }
    violations.push(...(await checkHealth(environment, process)), ...loggedFailures(process));
    const quarter = Math.ceil(memory.length / 4);
    const of = (first: number) =>
      [...statuses].reduce(
        (sum, [status, n]) => (Math.floor(status / 100) === first ? sum + n : sum),
        0,
      );
    return {
      counts: {
        requests: sent,
        '2xx and 3xx': of(2) + of(3),
        '4xx': of(4),
        '503 for too many exports': of(5),
        [memoryBefore]: percentile(memory.slice(0, quarter), 0.5),
        [memoryAfter]: percentile(memory.slice(-quarter), 0.5),
      },
      violations,
    };
  },
  checkGoals({ counts }) {
    const before = counts[memoryBefore] ?? 0;
    const growth = (counts[memoryAfter] ?? 0) - before;
    // Without samples the process ended early, which is a violation already.
    return before > 0 && growth > growthKiBMax
      ? [`memory grew by ${growth} KiB; goal ${growthKiBMax}`]
      : [];
  },
};

const memoryBefore = 'KiB of memory after half of the requests';
const memoryAfter = 'KiB of memory at the end';

/** Logged failures of requests, and the end of the log if the process ended. */
function loggedFailures({ child, output }: CuelineProcess): string[] {
  const { logged } = output();
  const failures = logged
    .split('\n')
    .filter(
      (line) =>
        /"msg":"(request failed|request rejected)"/.test(line) && !line.includes(exportsFull),
    );
  const last = hasEnded(child) ? [logged.slice(-logCharsMax)] : [];
  return [...failures.slice(-violationsMax), ...last].map(
    (text) => `logged: ${text.slice(0, logCharsMax)}`,
  );
}

const logCharsMax = 2_000;

/** Stops sending after this many violations. */
const violationsMax = 5;
const batchSize = 500;
const concurrency = 16;
/** The garbage collector leaves this much without memory pressure. */
const growthKiBMax = 64 * 1024;

async function inParallel(batch: readonly Attack[], work: (attack: Attack) => Promise<void>) {
  const rest = batch.values();
  const worker = async () => {
    for (const attack of rest) await work(attack);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}
