import { addBacklog, countQueued, redirectBacklog } from '../backlog.ts';
import type { Claim } from '../claim.ts';
import { startLoad } from '../load.ts';
import { addOtherWorkspaces, called, callsOf, lateStarts } from '../other-workspaces.ts';

/**
 * A round is the next execution of each of three other workspaces while one workspace with a backlog uses the whole
 * concurrency of a shared provider and fills its queue. In a tenth of the rounds, and at least one, calls take longer
 * than the queue timeout.
 */

const slots = 64;
const providerCalls = 2;
const quickMs = 250;
const slowMs = 3_000;
const quick = `ollama/after-${quickMs}`;
const slow = `ollama/after-${slowMs}`;
const backlog = 2_000;
const others = 3;
/** The capacity of two seconds. The other workspaces are next after each call of the backlog. */
const quickBeforeMax = (providerCalls * 2_000) / quickMs;
/**
 * An execution spends half of its time in the provider queue and half in the execution queue. It is next if it is in the
 * provider queue when calls end, two at a time. Missing that twenty times is practically impossible.
 */
const slowBeforeMax = providerCalls * 21;

export const fairProvider: Claim = {
  name: 'fair-provider',
  description:
    'A workspace that fills a shared provider delays another workspace by one call: less than a second if calls are short',
  rounds: { test: 1, short: 10, full: 100 },
  roundsPerEnvironment: 100,
  faults: [
    {
      name: 'fifo-provider-queue',
      description: 'calls are ordered by age, whatever the workspace',
      file: 'models/capacity/gate.ts',
      find: 'queue.acquire(workspaceId,',
      replace: "queue.acquire('',",
      rounds: 5,
    },
    {
      name: 'forgotten-position',
      description: 'a workspace that leaves the provider queue loses its position',
      file: 'models/capacity/fair-queue.ts',
      find: 'this.#servedAt.get(workspaceId) ?? 0',
      replace: '0',
    },
  ],
  async prove(environment, rounds) {
    const violations: string[] = [];
    const samplesMs: number[] = [];
    const before = { quick: 0, slow: 0 };
    const api = await environment.spawn('api');
    const agent = await environment.agent({ model: quick });
    const { key } = await environment.key();
    const first = startLoad({
      ...{ urls: () => [api.url], key, agents: [agent] },
      ...{ clients: 1, callsMax: 1 },
    });
    await first.done;
    await addBacklog(environment.db, first.accepted()[0] ?? '', backlog - 1);
    const all = await addOtherWorkspaces(environment, api.url, { count: others, answerMs: 0 });
    await environment.spawn('worker', {
      CUELINE_SLOTS: String(slots),
      CUELINE_PROVIDER_CALLS: String(providerCalls),
      CUELINE_LEASE_MS: '6000',
    });
    const round = async (kind: keyof typeof before, beforeMax: number) => {
      const started = await Promise.all(all.map((one) => one.call(1)));
      for (const { missing, ofBacklog, samplesMs: own } of started) {
        if (missing > 0)
          violations.push(`an execution did not start while ${kind} calls filled the provider`);
        if (ofBacklog > beforeMax)
          violations.push(
            `a call of another workspace waited for ${ofBacklog} ${kind} calls of the backlog`,
          );
        before[kind] += ofBacklog;
        if (kind === 'quick') samplesMs.push(...own);
      }
    };
    // A second after the first call some executions have left the provider queue.
    const full = await called(
      environment,
      quick,
      3 * providerCalls + (providerCalls * 1_000) / quickMs,
    );
    if (!full) violations.push('the backlog did not start');
    for (let n = 0; full && n < rounds; n++) await round('quick', quickBeforeMax);
    await redirectBacklog(environment.db, agent.id, slow);
    const slowed = full && (await called(environment, slow, 2 * providerCalls));
    if (!slowed) violations.push('no slow call of the backlog started');
    const slowRounds = slowed ? Math.ceil(rounds / 10) : 0;
    for (let n = 0; n < slowRounds; n++) await round('slow', slowBeforeMax);
    const left = await countQueued(environment.db, agent.id);
    // The backlog must continue, otherwise the proof shows no fairness.
    const continues = left > 0 && (await called(environment, slow, callsOf(environment, slow) + 1));
    if (slowed && !continues) violations.push('the backlog did not continue');
    return {
      counts: {
        backlog,
        'backlog left': left,
        'concurrent calls': providerCalls,
        'other workspaces': others,
        'short calls of the backlog before theirs': before.quick,
        'rounds with slow calls': slowRounds,
        'slow calls of the backlog before theirs': before.slow,
      },
      samplesMs: { 'accepted to called, during short calls': samplesMs },
      violations,
    };
  },
  checkGoals: ({ samplesMs = {} }) => lateStarts(samplesMs),
};
