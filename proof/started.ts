import type { FakeProvider } from '../harness/fake-provider.ts';
import { type Found, percentile } from './claim.ts';
import type { Load } from './load.ts';

const started = 'from the 202 to the call of the model';
/** The longest time between two looks of a worker at the queue, and what the way takes. */
const startedMsGoal = 1_500;

/** The sample of a claim that says how soon runs are begun, and the judge of it. */
export function startedSample(startedMs: readonly number[]): Record<string, readonly number[]> {
  return { [started]: startedMs };
}

export function judgeStarted({ samplesMs = {} }: Found): string[] {
  const latest = percentile(samplesMs[started] ?? [], 1);
  return latest > startedMsGoal ? [`${started}: beyond ${startedMsGoal} ms`] : [];
}

/** How long after its 202 each run of a load was begun: a call of the model, found by its prompt. In milliseconds. */
export function startedAfter(provider: FakeProvider, load: Load): number[] {
  const answeredMs = new Map(load.sent.map((one) => [`Hello ${one.name}`, one.answeredMs]));
  return provider.calls.flatMap(({ body, atMs }) => {
    const sinceMs = answeredMs.get(String(body?.messages?.at(-1)?.content));
    return sinceMs === undefined ? [] : [Math.max(0, atMs - sinceMs)];
  });
}
