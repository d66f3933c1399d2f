import { addBudget, addPrice } from '../../harness/budgets.ts';
import { sendAll } from '../apis.ts';
import { watchBudgets } from '../budget-checks.ts';
import { allEnded, checkDeadlocks } from '../checker.ts';
import type { Claim, Found } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';

/**
 * Calls that cost exactly their bound: a free input, and an answer of `maxTokens`. A round has a budget for some of them, for all
 * calls or for each user, and sends more to several processes at once.
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

export const budgetExact: Claim = {
  name: 'budget-exact',
  description:
    'A budget admits exactly as many calls as it has room for, across processes, whatever arrives at once',
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
  ],
  prove,
};

async function prove(environment: ProofEnvironment, rounds: number): Promise<Found> {
  const { db } = environment;
  await addPrice(environment, { model, perToken: boundUsd / maxTokens });
  const processes = await Promise.all(
    Array.from({ length: rounds > 1 ? 4 : 2 }, () => environment.spawn('start')),
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
    const answered = await sendAll({ apis: processes, clients, calls, nowMs: 0 });
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
