import { sql } from 'kysely';
import type { TestAgent } from '../../harness/agents.ts';
import type { CuelineProcess } from '../../harness/process.ts';
import { lossesMax } from '../../src/core/agent/model-settings.ts';
import { allEnded, checkTables } from '../checker.ts';
import type { Claim } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { startLoad } from '../load.ts';

/**
 * A round is two runs that kill the process that works on them, each time: one that may lose several, and one with
 * `maxAttempts: 1`, which may lose none. Both are in the same process when it is killed for the first time.
 */

/** Long enough that on a busy machine only who was killed loses it; longer in a test, beside which others run. */
const leaseMs = (rounds: number) => (rounds === 1 ? 6_000 : 1_500);

export const workerLost: Claim = {
  name: 'worker-lost',
  description:
    'An execution that kills its process each time ends as WORKER_LOST after exactly its budget of calls, and is counted once',
  rounds: { test: 1, short: 4, full: 40 },
  roundsPerEnvironment: 10,
  faults: [
    {
      name: 'no-loss',
      description: 'a lost process does not count as a loss',
      file: 'store/execution/workers.ts',
      find: 'losses = q.losses + 1',
      replace: 'losses = q.losses',
    },
  ],
  async prove(environment, rounds) {
    const api = await environment.spawn('api');
    const lease = { CUELINE_LEASE_MS: String(leaseMs(rounds)) };
    const { key } = await environment.key();
    // Answered long after the process is gone.
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
      const beyond = () =>
        load.sent.flatMap(({ agent, name }) => {
          const calls = callsWith(environment, name);
          const budget = budgets.get(agent) ?? 0;
          return calls > budget ? [`${calls} calls and not ${budget}`] : [];
        });
      for (let calls = before + 2; await calledOrEnded(environment, calls); calls++) {
        if (beyond().length > 0) break;
        const doomed = await workersNow(environment);
        // Up before the other is gone, so that the run does not wait for it.
        const next = await environment.spawn('worker', lease);
        await lose(environment, worker, doomed);
        worker = next;
        kills++;
      }
      await worker.kill('SIGKILL');
      violations.push(...beyond());
      for (const { agent, name } of load.sent) {
        const calls = callsWith(environment, name);
        const budget = budgets.get(agent) ?? 0;
        if (calls < budget) violations.push(`only ${calls} calls and not ${budget}`);
      }
      if (violations.length > 0) break;
    }
    violations.push(...(await otherEnds(environment, budgets)));
    violations.push(...(await checkTables(environment.db, { accepted })));
    return { counts: { 'processes killed': kills, executions: accepted.length }, violations };
  },
};

/** The variable that each call of the load has for itself stands in its prompt. */
function callsWith({ provider }: ProofEnvironment, name: string): number {
  return provider.calls.filter(({ body }) => body?.messages?.at(-1)?.content === `Hello ${name}`)
    .length;
}

/** Waits until that many calls have come in all, true, or until no run is left, false. */
async function calledOrEnded({ provider, db }: ProofEnvironment, calls: number): Promise<boolean> {
  for (;;) {
    if (provider.calls.length >= calls) return true;
    // As for any accepted execution: workers claim at once, not at their next poll.
    await sql`select pg_notify('cueline_execution_queued', '')`.execute(db);
    if (await allEnded(db, 100)) return provider.calls.length >= calls;
  }
}

/** Kills the process. Its lease would run out soon; here it does so now, which is the same but for the time. */
async function lose(
  { db }: ProofEnvironment,
  worker: CuelineProcess,
  ids: readonly string[],
): Promise<void> {
  await worker.kill('SIGKILL');
  await sql`update workers set lease_until = clock_timestamp() - interval '1 hour'
    where id = any(${ids})`.execute(db);
}

async function workersNow({ db }: ProofEnvironment): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select id from workers`.execute(db);
  return rows.map(({ id }) => id);
}

/** Records that do not say what they should: the code, the attempts, and of calls that died that nobody knows their cost. */
async function otherEnds(
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
    .map((row) => `a run ended otherwise: ${JSON.stringify(row)}`);
}
