import { setTimeout as wait } from 'node:timers/promises';
import type { Db } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';
import { allEnded, checkTables, watchInvariants } from '../checker.ts';
import type { Claim, Found } from '../claim.ts';
import { type ProofEnvironment, shuffle } from '../environment.ts';
import { createProcessPool } from '../process-pool.ts';
import { follow, interfaces, type Reading } from '../stream-readers.ts';

/**
 * A round kills an accepting process and a worker with `kill -9` while clients follow streams. The model streams another
 * text at each call.
 */

const streamsPerRound = 50;
const accepting = ['api', 'start'] as const;
const textMs = 2_000;
/** With a shorter lease, surviving workers could not renew it while new ones use the CPU to start. */
const leaseMsMin = 1_500;

export const streams: Claim = {
  name: 'streams',
  description:
    'The texts of a stream, concatenated across any cut, are the output; a task has its execution',
  rounds: { test: 1, short: 20, full: 200 },
  roundsPerEnvironment: 20,
  faults: [
    {
      name: 'unfenced-chunks',
      description: 'a reader takes the chunks of an earlier attempt for those of the current one',
      file: 'engine/stream/read-stream.ts',
      find: 'return isVoid ?',
      replace: 'return false ?',
    },
    {
      name: 'shifted-resume',
      description: 'a stream continues one character too late',
      file: 'engine/stream/emitted-events.ts',
      find: 'text.slice(from - offset, to - offset)',
      replace: 'text.slice(from - offset + (from > offset ? 1 : 0), to - offset)',
    },
  ],
  prove,
};

async function prove(own: ProofEnvironment, rounds: number): Promise<Found> {
  const environment = { ...own, leaseMs: Math.max(leaseMsMin, own.leaseMs) };
  const { db, leaseMs, random } = environment;
  const roundMs = leaseMs + textMs;
  const pool = createProcessPool(environment);
  await Promise.all((['worker', 'worker', ...accepting] as const).map((role) => pool.start(role)));
  const { key } = await environment.key();
  const agent = await environment.agent({
    model: `ollama/streamed-${textMs}`,
    config: { stream: true },
  });
  const urls = () => pool.up(...accepting).map(({ process }) => process?.url ?? '');
  const watch = watchInvariants(db, 200);
  const count = streamsPerRound * rounds;
  const read = Promise.allSettled(
    Array.from({ length: count }, async (_, index) => {
      // So that every kill finds streams.
      await wait((index / count) * rounds * roundMs);
      const kind = interfaces[index % interfaces.length] ?? 'execute';
      return follow({ urls, key, agent, random }, kind, `stream-${index}`);
    }),
  );
  for (let round = 0; round < rounds; round++) {
    // A lost worker's executions start again within a lease: none may lose five workers.
    await wait(roundMs - textMs / 2 + textMs * random());
    const accepter = accepting[round % 2] ?? 'api';
    const victims = [pool.up(accepter)[0], shuffle(pool.up('worker'), random)[0]];
    await Promise.all(victims.map((victim) => victim && pool.kill(victim)));
    pool.fill(accepter, 1);
    pool.fill('worker', 2);
  }
  const results = await read;
  await pool.settled();
  const ended = await allEnded(db);
  const readings = results.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  const checked = await checkReadings(db, readings);
  return {
    counts: { kills: 2 * rounds, ...checked.counts },
    violations: [
      ...(ended ? [] : ['not all executions ended']),
      ...results.flatMap((one) => (one.status === 'rejected' ? String(one.reason) : [])),
      ...checked.violations,
      ...(await watch.stop()),
      // A task whose response was lost is started again: the protocol has no key that identifies a call.
      ...(await checkTables(db, {
        accepted: readings.map(({ executionId }) => executionId),
        allowUnknown: true,
      })),
      ...pool.failed(),
    ],
  };
}

interface Row {
  readonly id: string;
  readonly status: string;
  readonly errorCode: string | null;
  readonly output: string | null;
  /** Of the attempt that ended it. */
  readonly lastClaim: number;
}

async function checkReadings(db: Db, readings: readonly Reading[]) {
  const { rows } = await sql<Row>`
    select id, status, error_code, output, last_claim from executions`.execute(db);
  const records = new Map(rows.map((row) => [row.id, row]));
  const violations = readings.flatMap((reading) => {
    const record = records.get(reading.executionId);
    if (!record) return [`${reading.executionId} (${reading.interface}) has no record`];
    if (record.status !== 'success') return [`${reading.executionId}: ${record.errorCode}`];
    const replaced = reading.text === null && record.lastClaim > 1;
    if (replaced || reading.text === record.output) return reading.problems;
    const [read, kept] = [reading.text?.length, record.output?.length];
    return [
      ...reading.problems,
      `${reading.executionId} (${reading.interface}): ${read} units read, ${kept} recorded`,
    ];
  });
  return {
    violations,
    counts: {
      streams: readings.length,
      connections: readings.reduce((sum, { connections }) => sum + connections, 0),
      'with a further attempt': rows.filter(({ lastClaim }) => lastClaim > 1).length,
      'replaced while read as a response': readings.filter(({ text }) => text === null).length,
    },
  };
}
