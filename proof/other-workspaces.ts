import { setTimeout as wait } from 'node:timers/promises';
import { addWorkspace } from '../harness/people.ts';
import type { ProofEnvironment } from './environment.ts';
import { startLoad } from './load.ts';
import { until } from './until.ts';

/** Workspaces without a backlog. Their next executions must start in time. */

/** Model calls after this time count as missing. */
const timeoutMs = 70_000;

export interface OtherWorkspace {
  call(count: number): Promise<Started>;
}

/** For each call, the time from the first 202 until it reached the provider, and the calls of the backlog meanwhile. */
export interface Started {
  readonly samplesMs: readonly number[];
  readonly ofBacklog: number;
  readonly missing: number;
}

export function addOtherWorkspaces(
  environment: ProofEnvironment,
  url: string,
  { count, answerMs }: { readonly count: number; readonly answerMs: number },
): Promise<OtherWorkspace[]> {
  return Promise.all(Array.from({ length: count }, () => addOne(environment, url, answerMs)));
}

async function addOne(
  environment: ProofEnvironment,
  url: string,
  answerMs: number,
): Promise<OtherWorkspace> {
  const { workspaceId, ownerId: userId } = await addWorkspace(environment.db);
  const { key } = await environment.key({ workspaceId, userId });
  // A separate model name identifies the calls.
  const name = `after-${answerMs}-of-${workspaceId}`;
  const agent = await environment.agent({
    model: `ollama/${name}`,
    workspaceId,
    createdBy: userId,
  });
  return {
    async call(count) {
      const { calls } = environment.provider;
      const load = startLoad({
        ...{ urls: () => [url], key, agents: [agent] },
        ...{ clients: count, callsMax: count },
      });
      const ownBefore = calls.filter((one) => one.model === name).length;
      await load.done;
      const accepted = load.sent.filter(({ outcome }) => outcome.kind === 'accepted');
      const from = calls.length;
      const endMs = performance.now() + timeoutMs;
      const own = () => calls.filter((one) => one.model === name).slice(ownBefore);
      while (own().length < accepted.length && performance.now() < endMs) await wait(2);
      const arrived = own();
      const ofBacklog = calls.slice(from).filter(({ model }) => !model.includes('-of-')).length;
      const samplesMs = arrived.map(({ atMs }, n) =>
        Math.max(0, atMs - (accepted[n]?.answeredMs ?? atMs)),
      );
      return { samplesMs, ofBacklog, missing: count - arrived.length };
    },
  };
}

/** Whether that many calls to the model reach the provider, within a generous time. */
export function called(
  environment: ProofEnvironment,
  model: string,
  count: number,
): Promise<boolean> {
  return until(() => callsOf(environment, model) >= count);
}

/** The number of calls to the model that have reached the provider. */
export function callsOf({ provider }: ProofEnvironment, model: string): number {
  return provider.calls.filter((call) => `ollama/${call.model}` === model).length;
}

/** The goal over all rounds: the next execution of another workspace starts within a second. */
export function lateStarts(samplesMs: Readonly<Record<string, readonly number[]>>): string[] {
  return Object.entries(samplesMs)
    .map(([kind, samples]) => ({ kind, late: samples.filter((ms) => ms > goalMs) }))
    .filter(({ late }) => late.length > 0)
    .map(
      ({ kind, late }) => `${late.length} executions started more than ${goalMs} ms late (${kind})`,
    );
}

const goalMs = 1_000;
