import type { TestAgent } from '../../harness/agents.ts';
import { addPrice } from '../../harness/budgets.ts';
import type { CuelineProcess } from '../../harness/process.ts';
import { toId } from '../../src/core/id.ts';
import { addRoom, checkEndedCalls, watchBudgets } from '../budget-checks.ts';
import type { Claim, Found } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { type Load, startLoad } from '../load.ts';

/**
 * A round sends calls of random costs to several processes at once. Models fail, hang until a fallback is called, and answer
 * without their usage; some calls are canceled. The budget has room for a part of what is sent.
 */

const maxTokens = 10;
/** Input is free. */
const boundUsd = 0.001;
const callsPerRound = 60;
const spending = Array.from({ length: maxTokens }, (_, index) => `ollama/spending-${index + 1}`);
const models = [...spending, 'ollama/server-error', 'ollama/uncounted', 'ollama/hang'];
const canceledShare = 0.3;

export const budgetSums: Claim = {
  name: 'budget-sums',
  description:
    'What budgets have settled is what records and statistics say, whatever calls cost and however they end',
  rounds: { test: 1, short: 5, full: 50 },
  roundsPerEnvironment: 25,
  faults: [
    {
      name: 'settle-bound',
      description: 'an end settles the bound of a call instead of its cost',
      file: 'engine/complete/settlements.ts',
      find: 'isKnown ? unitsOf(cost.usd) : reserved;',
      replace: 'isKnown ? reserved : reserved;',
    },
  ],
  prove,
};

async function prove(environment: ProofEnvironment, rounds: number): Promise<Found> {
  const { db, random } = environment;
  for (const model of models) {
    await addPrice(environment, { model, perToken: boundUsd / maxTokens });
  }
  const agents = await addAgents(environment);
  const { key } = await environment.key({ permissions: ['execute', 'read', 'cancel'] });
  const processes = await Promise.all(
    Array.from({ length: rounds > 1 ? 8 : 2 }, () => environment.spawn('start')),
  );
  const counts = { sent: 0, accepted: 0, canceled: 0 };
  await addRoom(environment, boundUsd);
  const watch = watchBudgets(db);
  for (let round = 0; round < rounds; round++) {
    await addRoom(environment, (20 + Math.floor(random() * 20)) * boundUsd);
    const chosen = Array.from({ length: callsPerRound }, () => pick(agents, random));
    const load = startLoad({
      ...{ urls: () => processes.map(({ url }) => url), key, agents: chosen },
      ...{ clients: 16, callsMax: callsPerRound, named: `r${round}` },
    });
    counts.canceled += await cancelSome(load, processes, { key, random });
    counts.sent += load.sent.length;
    counts.accepted += load.acceptedCount;
  }
  const violations: string[] = [];
  if (counts.accepted === 0 || counts.accepted === counts.sent)
    violations.push('no call was refused');
  violations.push(...(await checkEndedCalls(environment, watch, boundUsd)));
  return { counts, violations };
}

/** Most agents have one model of random cost. */
async function addAgents(environment: ProofEnvironment): Promise<TestAgent[]> {
  const config = { maxTokens, maxAttempts: 2 };
  const fallback = 'ollama/spending-7';
  return Promise.all([
    ...spending.map((model) => environment.agent({ model, config })),
    environment.agent({ model: 'ollama/uncounted', config }),
    ...['ollama/server-error', 'ollama/hang'].map((model) =>
      environment.agent({
        model,
        config: { ...config, models: [model, fallback], maxAttempts: 1, attemptTimeoutMs: 1_000 },
      }),
    ),
  ]);
}

function pick(agents: readonly TestAgent[], random: () => number): TestAgent {
  const agent = agents[Math.floor(random() * agents.length)];
  if (!agent) throw new Error('There are no agents.');
  return agent;
}

/** Cancels some of what is accepted, until the load is done. Returns how many were canceled before they ended. */
async function cancelSome(
  load: Load,
  processes: readonly CuelineProcess[],
  { key, random }: { readonly key: string; readonly random: () => number },
): Promise<number> {
  let isDone = false;
  void load.done.then(() => {
    isDone = true;
  });
  let canceled = 0;
  for (let seen = 0; !isDone || seen < load.sent.length; ) {
    const { agent, outcome } = load.sent[seen] ?? {};
    if (!agent || !outcome) {
      await Promise.race([load.done, new Promise((resolve) => setTimeout(resolve, 5))]);
      continue;
    }
    seen++;
    if (outcome.kind !== 'accepted' || random() > canceledShare) continue;
    const { url } = processes[seen % processes.length] ?? {};
    const id = toId('execution', outcome.executionId);
    const { status } = await fetch(`${url}${agent.path}/executions/${id}/cancel`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
    });
    if (status === 200) canceled++;
  }
  return canceled;
}
