import { setTimeout as wait } from 'node:timers/promises';
import { addWorkspace } from '../harness/people.ts';
import type { Ground } from './ground.ts';
import { startLoad } from './load.ts';
import { until } from './until.ts';

/** Other workspaces beside the one that has a backlog, whose next runs are not to be late for it. */

/** Long enough for any machine; who has not been called by then is missing. */
const patienceMs = 70_000;

export interface OtherWorkspace {
  call(count: number): Promise<Started>;
}

/** From the first 202 on: how long until each call reached the provider, and what of the backlog did meanwhile. */
export interface Started {
  readonly samplesMs: readonly number[];
  readonly ofBacklog: number;
  readonly missing: number;
}

export function addOtherWorkspaces(
  ground: Ground,
  url: string,
  { count, answerMs }: { readonly count: number; readonly answerMs: number },
): Promise<OtherWorkspace[]> {
  return Promise.all(Array.from({ length: count }, () => addOne(ground, url, answerMs)));
}

async function addOne(ground: Ground, url: string, answerMs: number): Promise<OtherWorkspace> {
  const { workspaceId, ownerId: userId } = await addWorkspace(ground.db);
  const { key } = await ground.key({ workspaceId, userId });
  // The model's name tells its calls from all others.
  const name = `after-${answerMs}-of-${workspaceId}`;
  const agent = await ground.agent({ model: `ollama/${name}`, workspaceId, createdBy: userId });
  return {
    async call(count) {
      const { calls } = ground.provider;
      const load = startLoad({
        ...{ urls: () => [url], key, agents: [agent] },
        ...{ clients: count, callsMax: count },
      });
      const mineBefore = calls.filter((one) => one.model === name).length;
      await load.done;
      const accepted = load.sent.filter(({ outcome }) => outcome.kind === 'accepted');
      const from = calls.length;
      const endMs = performance.now() + patienceMs;
      const mine = () => calls.filter((one) => one.model === name).slice(mineBefore);
      while (mine().length < accepted.length && performance.now() < endMs) await wait(2);
      const arrived = mine();
      const ofBacklog = calls.slice(from).filter(({ model }) => !model.includes('-of-')).length;
      const samplesMs = arrived.map(({ atMs }, n) =>
        Math.max(0, atMs - (accepted[n]?.answeredMs ?? atMs)),
      );
      return { samplesMs, ofBacklog, missing: count - arrived.length };
    },
  };
}

/** Whether that many calls to the model reach the provider, within a time that no machine needs. */
export function called(ground: Ground, model: string, count: number): Promise<boolean> {
  return until(() => callsOf(ground, model) >= count);
}

/** How many calls to the model have reached the provider. */
export function callsOf({ provider }: Ground, model: string): number {
  return provider.calls.filter((call) => `ollama/${call.model}` === model).length;
}

/** What samples of all rounds violate: another workspace's next run is to start within a second. */
export function lateStarts(samplesMs: Readonly<Record<string, readonly number[]>>): string[] {
  return Object.entries(samplesMs)
    .map(([kind, samples]) => ({ kind, late: samples.filter((ms) => ms > goalMs) }))
    .filter(({ late }) => late.length > 0)
    .map(({ kind, late }) => `${late.length} runs started more than ${goalMs} ms late (${kind})`);
}

const goalMs = 1_000;
