import type { TestAgent } from '../../harness/agents.ts';
import { failing } from '../../harness/fake-provider.ts';
import { addWorkspace } from '../../harness/people.ts';
import { toId } from '../../src/core/id.ts';
import { sql } from '../../src/db/sql.ts';
import { type Answer, type Call, execute } from '../calls.ts';
import { allEnded, checkTables } from '../checker.ts';
import type { Claim, Found } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';

const callsPerRound = 100;
const clients = 10;
/** AI Actions per month: fewer than the valid calls. */
const quota = 60;
/** Long enough that on a busy machine only killed processes lose it. */
const lease = { CUELINE_LEASE_MS: '1500' };

export const oneAction: Claim = {
  name: 'one-action',
  description:
    'An accepted execution costs one AI Action, however often it is retried, replayed, lost or canceled; a refusal costs none',
  rounds: { test: 1, short: 8, full: 150 },
  roundsPerEnvironment: 15,
  faults: [
    {
      name: 'charged-retries',
      description: 'every attempt costs an AI Action',
      file: 'engine/run/queue.ts',
      find: `})
    update execution_queue q set worker = null, wait_code`,
      replace: `}),
    charged as (update limits set month_used = month_used + 1 where subject in (
      select r.workspace_id from execution_queue r join released g on r.id = g.id where g.failed is not null))
    update execution_queue q set worker = null, wait_code`,
    },
    {
      name: 'charged-refusals',
      description: 'refused calls cost an AI Action',
      file: 'engine/admit/admission-batch.ts',
      find: 'const recorded = this.#refusals.record(call, caller, agent, refusal);',
      replace: `const charged = this.#months.get(caller.workspaceId);
      charged.used++;
      this.#chargedWorkspaces.add(caller.workspaceId);
      const recorded = this.#refusals.record(call, caller, agent, refusal);`,
    },
  ],
  prove,
};

async function prove(environment: ProofEnvironment, rounds: number): Promise<Found> {
  // Few slots, so that the worker gets some of the executions.
  const { url } = await environment.spawn('start', { ...lease, CUELINE_SLOTS: '4' });
  let worker = await environment.spawn('worker', lease);
  const counts: Record<string, number> = {
    calls: 0,
    accepted: 0,
    replayed: 0,
    'refused by the quota': 0,
    'refused as invalid': 0,
    canceled: 0,
    'kills -9': 0,
  };
  const accepted: string[] = [];
  const violations: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const kill = async () => {
      const killed = worker.kill('SIGKILL');
      counts['kills -9'] = (counts['kills -9'] ?? 0) + 1;
      worker = await environment.spawn('worker', lease);
      await killed;
    };
    const { answers, canceled, found } = await oneWorkspace(environment, url, kill);
    violations.push(...found.map((one) => `round ${round}: ${one}`));
    counts.canceled = (counts.canceled ?? 0) + canceled;
    for (const { status, replayed, executionId } of answers) {
      const what = replayed ? 'replayed' : (names[status] ?? `answered ${status}`);
      counts.calls = (counts.calls ?? 0) + 1;
      counts[what] = (counts[what] ?? 0) + 1;
      if (status === 202 && !replayed && executionId) accepted.push(executionId);
    }
  }
  violations.push(...(await checkTables(environment.db, { accepted })));
  return {
    counts: { ...counts, 'model calls': environment.provider.calls.length },
    violations,
  };
}

const names: Readonly<Record<number, string>> = {
  202: 'accepted',
  400: 'refused as invalid',
  429: 'refused by the quota',
};

/** The calls of a workspace exceed its quota, and a worker is killed meanwhile. */
async function oneWorkspace(environment: ProofEnvironment, url: string, kill: () => Promise<void>) {
  const { db, provider, random } = environment;
  const { workspaceId, ownerId: userId } = await addWorkspace(db);
  await sql`update workspaces set actions_per_month = ${quota} where id = ${workspaceId}`.execute(
    db,
  );
  const { key } = await environment.key({ workspaceId, userId });
  const model = 'ollama/after-40';
  const [agent, once] = await Promise.all([
    environment.agent({ workspaceId, createdBy: userId, model }),
    environment.agent({ workspaceId, createdBy: userId, model, config: { maxAttempts: 1 } }),
  ]);
  // Every fifth model call fails and is retried.
  const steps = [failing(500, 'The server had an error.'), {}, {}, {}, {}];
  provider.script(...Array.from({ length: callsPerRound / 5 }, () => steps).flat());

  const calls = Array.from({ length: callsPerRound }, () => plan(random, key, [agent, once]));
  const answers: Answer[] = [];
  let canceled = 0;
  let killed = Promise.resolve();
  async function client(): Promise<void> {
    for (let call = calls.pop(); call; call = calls.pop()) {
      const answer = await execute(url, call);
      answers.push(answer);
      if (answers.length === callsPerRound / 4) killed = kill();
      if (answer.executionId === null || random() > 0.1) continue;
      const id = toId('execution', answer.executionId);
      const response = await fetch(`${url}${call.path}/executions/${id}/cancel`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
      });
      if (response.ok) canceled++;
      await response.arrayBuffer();
    }
  }
  await Promise.all(Array.from({ length: clients }, client));
  await killed;
  const found = (await allEnded(db)) ? [] : ['not all executions ended'];
  found.push(...(await checkUsage(db, { workspaceId, url, key }, answers)));
  return { answers, canceled, found };
}

function plan(random: () => number, key: string, agents: readonly TestAgent[]): Call {
  const path = agents[Math.floor(random() * agents.length)]?.path ?? '';
  const chance = random();
  if (chance < 0.1) return { path, key, body: { variables: {} } };
  const body = { variables: { name: 'you' } };
  if (chance > 0.25) return { path, key, body };
  return { path, key, body, headers: { 'idempotency-key': `again ${Math.floor(random() * 4)}` } };
}

/** Responses, records, the monthly counter and `GET /usage` must agree. */
async function checkUsage(
  db: ProofEnvironment['db'],
  { workspaceId, url, key }: { workspaceId: string; url: string; key: string },
  answers: readonly Answer[],
): Promise<string[]> {
  const { rows } = await sql<{ records: number; counted: number }>`
    select l.month_used as counted, (
      select count(*) from all_executions e where e.workspace_id = l.subject
        and e.status not in ('rate_limited', 'unauthorized')) as records
    from limits l where l.subject = ${workspaceId}`.execute(db);
  const response = await fetch(`${url}/api/v1/usage`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const { actionsUsed } = (await response.json()) as { actionsUsed: number };
  const accepted = answers.filter(({ status, replayed }) => status === 202 && !replayed).length;
  const { records, counted } = rows[0] ?? {};
  const violations: string[] = [];
  if (records !== accepted || counted !== accepted || actionsUsed !== accepted) {
    violations.push(
      `${accepted} accepted, ${records} recorded, ${counted} counted, ${actionsUsed} in usage`,
    );
  }
  const refused = answers.filter(({ limitedBy }) => limitedBy?.scope === 'quota').length;
  if (accepted > quota || (refused > 0 && accepted < quota)) {
    violations.push(`${accepted} executions accepted with a quota of ${quota}`);
  }
  return violations;
}
