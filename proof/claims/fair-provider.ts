import { addBacklog } from '../backlog.ts';
import type { Claim } from '../claim.ts';
import { startLoad } from '../load.ts';
import { addNeighbors, called, lateStarts } from '../neighbors.ts';

/**
 * A round is the next run of each of three other workspaces, while calls of one with a backlog fill all the room that
 * there is at the provider which all of them share, and many more stand in line for it.
 */

const slots = 64;
const providerCalls = 2;
const model = 'ollama/after-250';
const backlog = 2_000;
const neighbors = 3;
/** What two seconds have room for; the neighbors have a turn after each one of it. */
const beforeMax = (providerCalls * 2_000) / 250;

export const fairProvider: Claim = {
  name: 'fair-provider',
  says: 'calls that fill a shared provider do not delay another workspace’s next run by more than a second',
  rounds: { test: 1, short: 10, full: 100 },
  roundsPerGround: 100,
  faults: [
    {
      name: 'no-turns',
      says: 'whoever stands in line first is called first, of whichever workspace',
      file: 'provider/breakers.ts',
      find: 'line.stand(workspaceId,',
      replace: "line.stand('',",
    },
  ],
  async prove(ground, rounds) {
    const violations: string[] = [];
    const samplesMs: number[] = [];
    const api = await ground.spawn('api');
    const agent = await ground.agent({ model });
    const { key } = await ground.key();
    const first = startLoad({
      ...{ urls: () => [api.url], key, agents: [agent] },
      ...{ clients: 1, callsMax: 1 },
    });
    await first.done;
    await addBacklog(ground.db, first.accepted()[0] ?? '', backlog - 1);
    const all = await addNeighbors(ground, api.url, neighbors);
    await ground.spawn('worker', {
      CUELINE_SLOTS: String(slots),
      CUELINE_PROVIDER_CALLS: String(providerCalls),
      CUELINE_LEASE_MS: '6000',
    });
    // A second after the first of them some have been sent away.
    await called(ground, model, 3 * providerCalls + (providerCalls * 1_000) / 250);
    for (let round = 0; round < rounds; round++) {
      const started = await Promise.all(all.map((one) => one.call(1)));
      for (const { missing, ofBacklog, samplesMs: own } of started) {
        if (missing > 0) violations.push('a run did not start beside a full provider');
        if (ofBacklog > beforeMax)
          violations.push(
            `${ofBacklog} of the backlog were called before one of another workspace`,
          );
        samplesMs.push(...own);
      }
    }
    return {
      counts: { backlog, 'calls at once': providerCalls, 'workspaces beside it': neighbors },
      samplesMs: { 'accepted to called, beside a full provider': samplesMs },
      violations,
    };
  },
  judge: ({ samplesMs = {} }) => lateStarts(samplesMs),
};
