import type { TestAgent } from '../../harness/agents.ts';
import type { CuelineProcess } from '../../harness/process.ts';
import { lossesMax } from '../../src/core/agent/model-settings.ts';
import { sql } from '../../src/db/sql.ts';
import { allEnded, checkTables } from '../checker.ts';
import type { Claim } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { startLoad } from '../load.ts';

/**
 * A round is two executions whose process is killed during each attempt: one with the default loss budget, and one with
 * `maxAttempts: 1`. Both are in the same process at the first kill.
 */

/** Long enough that only killed processes lose it; longer in a test, because other tests run concurrently. */
const leaseMs = (rounds: number) => (rounds === 1 ? 6_000 : 1_500);

export const workerLost: Claim = {
  name: 'worker-lost',
  description:
    'An execution that kills its process each time ends as WORKER_LOST after exactly its budget of calls and is counted once',
  rounds: { test: 1, short: 4, full: 40 },
  roundsPerEnvironment: 10,
  faults: [
    {
      name: 'unlimited-losses',
      description: 'a lost process does not count as a loss',
      file: 'engine/run/workers.ts',
      find: 'losses = q.losses + 1',
      replace: 'losses = q.losses',
    },
  ],
  async prove(environment, rounds) {
    const api = await environment.spawn('api');
    const lease = { CUELINE_LEASE_MS: String(leaseMs(rounds)) };
    const { key } = await environment.key();
    // The response comes long after the kill.
    const model = 'ollama/after-60000';
    const many = await environment.agent({ model });
    const once = await environment.agent({ model, config: { maxAttempts: 1 } });
    const budgets = new Map([
      [many, lossesMax],
      [once, 1],
    ]);
    const violations: string[] = [];
    const accepted: string[] = [];
    let kills = 0;
    for (let round = 0; round < rounds; round++) {
      const before = environment.provider.calls.length;
      const load = startLoad({
        ...{ urls: () => [api.url], key, agents: [many, once] },
        ...{ clients: 2, callsMax: 2, named: `round-${round}` },
      });
      let worker = await environment.spawn('worker', lease);
      await load.done;
      accepted.push(...load.accepted());
      const counted = () =>
        load.sent.map(({ agent, name }) => ({
          calls: callsWith(environment, name),
          budget: budgets.get(agent) ?? 0,
        }));
      for (let calls = before + 2; await calledOrEnded(environment, calls); calls++) {
        if (counted().some(({ calls, budget }) => calls > budget)) break;
        const lostIds = await workerIds(environment);
        // Starts before the kill, so that the executions continue immediately.
        const next = await environment.spawn('worker', lease);
        await lose(environment, worker, lostIds);
        worker = next;
        kills++;
      }
      await worker.kill('SIGKILL');
      for (const { calls, budget } of counted()) {
        if (calls !== budget) violations.push(`${calls} calls instead of ${budget}`);
      }
      if (violations.length > 0) break;
    }
    violations.push(...(await wrongRecords(environment, budgets)));
    violations.push(...(await checkTables(environment.db, { accepted })));
    return { counts: { 'processes killed': kills, executions: accepted.length }, violations };
  },
};

/** The unique name of a call is part of its prompt. */
function callsWith({ provider }: ProofEnvironment, name: string): number {
  return provider.calls.filter(({ body }) => body?.messages?.at(-1)?.content === `Hello ${name}`)
    .length;
}

/** True after that many calls in total, false if all executions end before. */
async function calledOrEnded({ provider, db }: ProofEnvironment, calls: number): Promise<boolean> {
  for (;;) {
    if (provider.calls.length >= calls) return true;
    // Workers claim immediately instead of at their next poll.
    await sql`select pg_notify('cueline_execution_queued', '')`.execute(db);
    if (await allEnded(db, 100)) return provider.calls.length >= calls;
  }
}

/** Kills the process and expires its lease, which would otherwise take a moment. */
async function lose(
  { db }: ProofEnvironment,
  worker: CuelineProcess,
  ids: readonly string[],
): Promise<void> {
  await worker.kill('SIGKILL');
  await sql`update workers set lease_until = clock_timestamp() - interval '1 hour'
    where id = any(${ids})`.execute(db);
}

async function workerIds({ db }: ProofEnvironment): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select id from workers`.execute(db);
  return rows.map(({ id }) => id);
}

/** Records with another code, other attempts, or a known cost although their calls were lost. */
async function wrongRecords(
  environment: ProofEnvironment,
  budgets: ReadonlyMap<TestAgent, number>,
): Promise<string[]> {
  const { rows } = await sql<{ agentId: string; attempts: number; code: string; known: boolean }>`
    select agent_id, attempts, error_code as code, cost_known as known from executions`.execute(
    environment.db,
  );
  const expected = new Map([...budgets].map(([agent, budget]) => [agent.id, budget]));
  return rows
    .filter(
      (row) =>
        row.code !== 'WORKER_LOST' || row.attempts !== expected.get(row.agentId) || row.known,
    )
    .map((row) => `a wrong record: ${JSON.stringify(row)}`);
}
