import { addBacklog, countQueued, redirectBacklog } from '../backlog.ts';
import type { Claim } from '../claim.ts';
import { startLoad } from '../load.ts';
import { addOtherWorkspaces, called, callsOf, lateStarts } from '../other-workspaces.ts';

/**
 * A round is the next run of each of three other workspaces, while calls of one with a backlog fill all the room that
 * there is at the provider which all of them share, and many more stand in line for it: for each tenth round, and at
 * least one, calls that last longer than anybody stands there.
 */

const slots = 64;
const providerCalls = 2;
const quickMs = 250;
const slowMs = 3_000;
const quick = `ollama/after-${quickMs}`;
const slow = `ollama/after-${slowMs}`;
const backlog = 2_000;
const others = 3;
/** What two seconds have room for; the others have a turn after each one of it. */
const quickBeforeMax = (providerCalls * 2_000) / quickMs;
/**
 * Whoever waits alone stands in line half of the time, and is in the queue the other half. It is next whenever it stands
 * there as calls end, two at a time: that it does not for twenty times is as good as impossible.
 */
const slowBeforeMax = providerCalls * 21;

export const fairProvider: Claim = {
  name: 'fair-provider',
  description:
    'A workspace that fills a shared provider delays another workspace by one turn only: less than a second if calls are short',
  rounds: { test: 1, short: 10, full: 100 },
  roundsPerEnvironment: 100,
  faults: [
    {
      name: 'fifo-provider-queue',
      description: 'calls are ordered by age, whatever the workspace',
      file: 'provider/breakers.ts',
      find: 'queue.acquire(workspaceId,',
      replace: "queue.acquire('',",
      rounds: 5,
    },
    {
      name: 'forgotten-position',
      description: 'a workspace that leaves the provider queue loses its position',
      file: 'provider/fair-queue.ts',
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
          violations.push(`a run did not start beside a provider full of ${kind} calls`);
        if (ofBacklog > beforeMax)
          violations.push(
            `${ofBacklog} ${kind} calls of the backlog came before one of another workspace`,
          );
        before[kind] += ofBacklog;
        if (kind === 'quick') samplesMs.push(...own);
      }
    };
    // A second after the first of them some have been sent away.
    const full = await called(
      environment,
      quick,
      3 * providerCalls + (providerCalls * 1_000) / quickMs,
    );
    if (!full) violations.push('the backlog was not begun');
    for (let n = 0; full && n < rounds; n++) await round('quick', quickBeforeMax);
    await redirectBacklog(environment.db, agent.id, slow);
    const slowed = full && (await called(environment, slow, 2 * providerCalls));
    if (!slowed) violations.push('of the slow ones of the backlog none was begun');
    const slowRounds = slowed ? Math.ceil(rounds / 10) : 0;
    for (let n = 0; n < slowRounds; n++) await round('slow', slowBeforeMax);
    const left = await countQueued(environment.db, agent.id);
    // That none of it came before the others is as fair as can be; that it does not go on would be something else.
    const goesOn = left > 0 && (await called(environment, slow, callsOf(environment, slow) + 1));
    if (slowed && !goesOn)
      violations.push('the backlog did not go on: there was nothing to be fair against');
    return {
      counts: {
        backlog,
        'left of it': left,
        'calls at once': providerCalls,
        'workspaces beside it': others,
        'calls of the backlog before theirs, where such calls are short': before.quick,
        'rounds beside calls of three seconds': slowRounds,
        'calls of the backlog before theirs in these': before.slow,
      },
      samplesMs: { 'accepted to called, beside a provider full of short calls': samplesMs },
      violations,
    };
  },
  checkGoals: ({ samplesMs = {} }) => lateStarts(samplesMs),
};
