import { setTimeout as wait } from 'node:timers/promises';
import type { Db } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';
import { allEnded, checkTables, watchInvariants } from '../checker.ts';
import type { Claim, Found } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { checkHistories } from '../histories.ts';
import { checkJournal, startJournal } from '../journal.ts';
import { startLoad } from '../load.ts';
import { createProcessPool } from '../process-pool.ts';

/**
 * A round kills one of two accepting processes, an `api` and a `start`, with `kill -9`. Replacements start in advance.
 */

const spares = 1;

export const apiKilled: Claim = {
  name: 'api-killed',
  description:
    'Every 202 has a record, however often the API is killed; a record without a 202 is complete',
  rounds: { test: 2, short: 30, full: 300 },
  roundsPerEnvironment: 30,
  faults: [
    {
      name: 'missing-commit',
      description: 'some 202s have no commit',
      file: 'engine/admit/admission-write.ts',
      find: 'sent.push(send(commit));',
      replace:
        "sent.push(send(Math.random() < 0.1 ? { name: 'rollback', text: 'rollback', values: () => [] } : commit));",
    },
  ],
  prove,
};

async function prove(environment: ProofEnvironment, rounds: number): Promise<Found> {
  const { db, random } = environment;
  await startJournal(db);
  const pool = createProcessPool(environment);
  const roles = ['api', 'start'] as const;
  await Promise.all([pool.start('worker'), ...roles.map((role) => pool.start(role))]);
  const { key } = await environment.key();
  const agents = await Promise.all([
    environment.agent({ model: 'ollama/numbered-20' }),
    environment.agent({ model: 'ollama/numbered-20', config: { maxConcurrency: 20 } }),
  ]);
  const urls = () => pool.up(...roles).map(({ process }) => process?.url ?? '');
  const load = { urls, key, agents, pauseMs: 10 };
  const once = startLoad({ ...load, clients: 12, named: 'once' });
  const sure = startLoad({ ...load, clients: 12, named: 'sure', retry: true });
  const answered = () => once.acceptedCount + sure.acceptedCount;
  const watch = watchInvariants(db, 200);
  for (let left = rounds; left > 0; left--) {
    if (left > 2) for (const role of roles) pool.fill(role, 1 + spares);
    // Right after a response, whose commit must be durable.
    const more = answered() + 20 + Math.floor(60 * random());
    while (answered() < more && pool.failed().length === 0) await wait(1);
    const [victim] = pool.up(...roles);
    if (!victim) break;
    await pool.kill(victim);
    while (left > 1 && pool.up(...roles).length === 0 && pool.failed().length === 0) {
      await wait(10);
    }
  }
  // Clients that still retry may find no process, and stop without a response.
  await Promise.all([once.stop(), sure.stop()]);
  await pool.settled();
  const ended = await allEnded(db);
  const accepted = [...new Set([...once.accepted(), ...sure.accepted()])];
  const sent = [...once.sent, ...sure.sent];
  const histories = await checkHistories(db, pool.calls());
  const { records, twice } = await recordsByName(db);
  return {
    counts: {
      kills: rounds,
      'calls with a 202': sent.filter(({ outcome }) => outcome.kind === 'accepted').length,
      'of which replayed': sent.filter(
        ({ outcome }) => outcome.kind === 'accepted' && outcome.replayed,
      ).length,
      'calls without a response': sent.filter(({ outcome }) => outcome.kind === 'broken').length,
      'records without a 202': records - accepted.length,
      ...histories.counts,
    },
    violations: [
      ...(ended ? [] : ['not all executions ended']),
      ...sent
        .filter(({ outcome }) => outcome.kind === 'refused')
        .map(({ name, outcome }) => `${name} was refused: ${JSON.stringify(outcome)}`),
      ...twice.map((name) => `${name} was accepted more than once`),
      ...(await watch.stop()),
      ...(await checkTables(db, { accepted, allowUnknown: true })),
      ...histories.violations,
      ...(await checkJournal(db)),
      ...pool.failed(),
    ],
  };
}

/** A call with a broken connection may have been accepted, but only once: only its client retries it. */
async function recordsByName(db: Db): Promise<{ records: number; twice: string[] }> {
  const { rows } = await sql<{ name: string; records: number }>`
    select input_variables ->> 'name' as name, count(*) as records from executions group by 1`.execute(
    db,
  );
  return {
    records: rows.reduce((sum, row) => sum + row.records, 0),
    twice: rows.filter((row) => row.records > 1).map((row) => row.name),
  };
}
