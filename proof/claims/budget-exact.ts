import { addBudget, addPrice } from '../../harness/budgets.ts';
import type { CuelineProcess } from '../../harness/process.ts';
import { addWorkflow, step } from '../../harness/workflow-runs.ts';
import { fromId } from '../../src/core/id.ts';
import { sql } from '../../src/db/sql.ts';
import { sendAll } from '../apis.ts';
import { watchBudgets } from '../budget-checks.ts';
import { allEnded, checkDeadlocks } from '../checker.ts';
import type { Claim, Found } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';

/**
 * Calls that cost exactly their bound: a free input, and an answer of `maxTokens`. A round has a budget for some of them, for all
 * calls or for each user, and sends more to several processes at once. A workflow run has a limit for as many of its items.
 */

const model = 'ollama/after-5';
/** The provider answers with so many. */
const maxTokens = 5;
const boundUsd = 0.001;
/** The first is the round of the tests: 0.01 USD. Their number is odd, so that each meets both kinds of budgets. */
const worths = [10, 37, 1, 100, 3];
const callsBeyond = 20;
const clients = 10;
const users = ['ann', 'bob'];
const itemsAtOnce = 100;
/** A lost call may have been charged, and has room for one call less: no worker may lose its lease on a busy machine. */
const lease = { CUELINE_LEASE_MS: '60000' };

export const budgetExact: Claim = {
  name: 'budget-exact',
  description:
    'A budget and the limit of a workflow run admit exactly as many calls as they have room for, across processes, whatever arrives at once',
  rounds: { test: 1, short: 10, full: 90 },
  roundsPerEnvironment: 10,
  faults: [
    {
      name: 'fold-without-lock',
      description: 'admission does not lock the workspace whose budgets it reads',
      file: 'engine/admit/admission-read.ts',
      find: ') as workspaces)\n',
      replace: ') as workspaces where false)\n',
    },
    {
      name: 'unlimited-waiting-steps',
      description: 'a step that waited is called without the limit of its workflow run',
      file: 'engine/advance/workflow-steps.ts',
      find: 'r.labels, r.max_cost_usd`',
      replace: 'r.labels, null as max_cost_usd`',
    },
  ],
  prove,
};

async function prove(environment: ProofEnvironment, rounds: number): Promise<Found> {
  const { db } = environment;
  await addPrice(environment, { model, perToken: boundUsd / maxTokens });
  const processes = await Promise.all(
    Array.from({ length: rounds > 1 ? 4 : 2 }, () => environment.spawn('start', lease)),
  );
  const violations: string[] = [];
  const counts: Record<string, number> = { calls: 0, accepted: 0, refused: 0 };
  const watch = watchBudgets(db);
  for (let round = 0; round < rounds; round++) {
    const worth = worths[round % worths.length] ?? 1;
    const perUser = round % 2 === 1;
    const limit = { limitUSD: worth * boundUsd, per: perUser ? 'user' : 'none' } as const;
    const agent = await environment.agent({ model, config: { maxTokens } });
    // Each call has an agent, a key and a user of this round.
    const { key } = await environment.key();
    await addBudget(environment, { ...limit, agentIds: [agent.id] });
    const count = (worth + callsBeyond) * (perUser ? users.length : 1);
    const calls = Array.from({ length: count }, (_, index) => {
      const user = perUser ? { user: users[index % users.length] } : {};
      return { call: { path: agent.path, key, body: { variables: { name: 'x' }, ...user } } };
    });
    const [answered, items] = await Promise.all([
      sendAll({ apis: processes, clients, calls, nowMs: 0 }),
      runItems(environment, processes, worth),
    ]);
    violations.push(...items.map((one) => `round ${round}: ${one}`));
    const statuses = answered.map(({ answer }) => answer.status);
    const accepted = statuses.filter((status) => status === 202).length;
    const wanted = worth * (perUser ? users.length : 1);
    if (accepted !== wanted) violations.push(`round ${round}: ${accepted} of ${wanted} accepted`);
    const others = answered.filter(
      ({ answer }) => answer.status !== 202 && answer.code !== 'BUDGET_EXCEEDED',
    );
    violations.push(...others.map(({ answer }) => `round ${round}: ${JSON.stringify(answer)}`));
    counts.calls = (counts.calls ?? 0) + count;
    counts.accepted = (counts.accepted ?? 0) + accepted;
    counts.refused = (counts.refused ?? 0) + count - accepted;
  }
  if (!(await allEnded(db))) violations.push('not all executions ended');
  violations.push(...(await watch.stop()), ...(await checkDeadlocks(db)));
  return { counts, violations };
}

/** A run with a limit for some of its items. Returns what is wrong with their outcomes. */
async function runItems(
  environment: ProofEnvironment,
  processes: readonly CuelineProcess[],
  worth: number,
): Promise<string[]> {
  const agent = await environment.agent({ model, config: { maxTokens } });
  const { key } = await environment.key();
  const list = Array.from({ length: worth + callsBeyond }, (_, n) => n);
  const { workflowId } = await addWorkflow(environment, {
    steps: [
      step({
        ...{ name: 'each', agent, onFailure: 'continue', variables: { name: '{{item}}' } },
        forEach: { list, concurrency: itemsAtOnce, max: list.length },
      }),
    ],
  });
  const { url } = processes[worth % processes.length] ?? { url: '' };
  const call = async (path: string, body?: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const sent = body ? { method: 'POST', body: JSON.stringify(body) } : {};
    const response = await fetch(`${url}${path}`, { headers, ...sent });
    return (await response.json()) as Record<string, string>;
  };
  const started = await call(`/api/v1/workflows/${workflowId}/execute`, {
    ...{ input: {}, maxCostUSD: worth * boundUsd },
  });
  let run = started;
  while (run.status === 'processing') run = await call(`${started.statusUrl}?wait=20`);
  const { rows } = await sql<{ outcome: string; count: number }>`
    select coalesce(error_code, status) as outcome, count(*) as count from workflow_steps
    where run_id = ${fromId('workflowRun', started.workflowRunId ?? '')} and item >= 0 group by 1 order by 1`.execute(
    environment.db,
  );
  const wanted = [
    { outcome: 'COST_LIMIT', count: callsBeyond },
    { outcome: 'success', count: worth },
  ];
  const isExact = JSON.stringify(rows) === JSON.stringify(wanted);
  return isExact ? [] : [`items of a run for ${worth}: ${JSON.stringify(rows)}`];
}
