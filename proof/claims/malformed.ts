import type { Socket } from 'node:net';
import fc from 'fast-check';
import { type CuelineProcess, hasEnded } from '../../harness/process.ts';
import { type Claim, percentile } from '../claim.ts';
import type { Attack } from '../malformed/attack.ts';
import { attacks } from '../malformed/attacks.ts';
import { complaints, exportsFull } from '../malformed/response-checks.ts';
import { makeTargets, memoryKiB, stillWell } from '../malformed/target.ts';
import { send } from '../malformed/wire.ts';

/** Malformed requests over raw sockets at one process that serves and works. A round is a request. */
export const malformed: Claim = {
  name: 'malformed',
  description:
    'Every malformed request gets one well-formed response without a 5xx, and the process keeps its memory and continues to work',
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
      file: 'api/server.ts',
      find: 'requireHostHeader: false,',
      replace: 'requireHostHeader: false, insecureHTTPParser: true,',
    },
    {
      name: 'unhandled-reset',
      description: 'errors of upgraded connections are not handled',
      file: 'api/http/drain-socket.ts',
      find: "socket.on('error', () => {});",
      replace: '',
    },
  ],
  async prove(environment, rounds) {
    // Nobody is killed: with a lease that is short, a machine that stands still looks like a database that is silent.
    const env = { CUELINE_SLOTS: '50', CUELINE_LOG_LEVEL: 'warn', CUELINE_LEASE_MS: '60000' };
    const process = await environment.spawn('start', env);
    const port = Number(new URL(process.url).port);
    const violations: string[] = [];
    const statuses = new Map<number, number>();
    const open = new Set<Socket>();
    /** After each batch of the second half: the first half warms up. */
    const memory: number[] = [];
    let sent = 0;
    while (sent < rounds && violations.length < enough && !hasEnded(process.child)) {
      // Anew, for what is attacked does not last: agents are deleted and plans set to nothing.
      const arbitrary = attacks(await makeTargets(environment, process.url));
      const seed = Math.floor(environment.random() * 2 ** 31);
      const batch = fc.sample(arbitrary, { numRuns: Math.min(batchSize, rounds - sent), seed });
      await inTurn(batch, async (attack) => {
        if (violations.length >= enough) return;
        const heard = await send(port, attack, open);
        for (const { status } of heard.answers)
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (violations.length >= enough) return;
        violations.push(...complaints(attack, heard));
        // Others may wait long for an answer that does not come either.
        if (violations.length >= enough) for (const socket of open) socket.destroy();
      });
      sent += batch.length;
      const now = sent >= rounds / 2 ? await memoryKiB(process) : null;
      if (now !== null) memory.push(now);
    }
    violations.push(...(await stillWell(environment, process)));
    violations.push(...faultsOf(process));
    const some = Math.ceil(memory.length / 4);
    const of = (first: number) =>
      [...statuses].reduce(
        (sum, [status, n]) => (Math.floor(status / 100) === first ? sum + n : sum),
        0,
      );
    return {
      counts: {
        'requests sent over sockets of their own': sent,
        '2xx and 3xx': of(2) + of(3),
        '4xx': of(4),
        '5xx (only that enough exports are under way)': of(5),
        'KiB of memory after half of them': percentile(memory.slice(0, some), 0.5),
        'KiB of memory at the end': percentile(memory.slice(-some), 0.5),
      },
      violations,
    };
  },
  checkGoals({ counts }) {
    const warm = counts['KiB of memory after half of them'] ?? 0;
    const grown = (counts['KiB of memory at the end'] ?? 0) - warm;
    // Without a figure of the time between, it has ended before its time.
    return warm > 0 && grown > grownKiBMax
      ? [`memory has grown by ${grown} KiB; goal ${grownKiBMax}`]
      : [];
  },
};

/** What the process has logged of its own faults, or of the database's; and its last words, where it has ended. */
function faultsOf({ child, output }: CuelineProcess): string[] {
  const { logged } = output();
  const faults = logged
    .split('\n')
    .filter(
      (line) =>
        /"msg":"(request failed|request rejected)"/.test(line) && !line.includes(exportsFull),
    );
  const last = hasEnded(child) ? [logged.slice(-logCharsMax)] : [];
  return [...faults.slice(-enough), ...last].map(
    (text) => `it has logged ${text.slice(0, logCharsMax)}`,
  );
}

const logCharsMax = 2_000;

/** Violations after which nothing more is sent. */
const enough = 5;
const batchSize = 500;
const atOnce = 16;
/** The collector lets so much lie around when nobody presses it. */
const grownKiBMax = 64 * 1024;

async function inTurn(batch: readonly Attack[], work: (attack: Attack) => Promise<void>) {
  const rest = batch.values();
  const worker = async () => {
    for (const attack of rest) await work(attack);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
