import type { FakeProvider } from '../harness/fake-provider.ts';
import { type Found, percentile } from './claim.ts';
import type { Load } from './load.ts';

const started = '202 to model call';
/** The longest interval between two polls of the queue, plus the latency of the call. */
const startedMsGoal = 1_500;

/** The samples of a claim about the start latency of executions. */
export function startLatencySample(
  startedMs: readonly number[],
): Record<string, readonly number[]> {
  return { [started]: startedMs };
}

export function checkStartLatency({ samplesMs = {} }: Found): string[] {
  const latest = percentile(samplesMs[started] ?? [], 1);
  return latest > startedMsGoal ? [`${started}: beyond ${startedMsGoal} ms`] : [];
}

/** For each execution of a load, the milliseconds from the 202 to its model call, matched by the prompt. */
export function startLatencies(provider: FakeProvider, load: Load): number[] {
  const answeredMs = new Map(load.sent.map((one) => [`Hello ${one.name}`, one.answeredMs]));
  return provider.calls.flatMap(({ body, atMs }) => {
    const sinceMs = answeredMs.get(String(body?.messages?.at(-1)?.content));
    return sinceMs === undefined ? [] : [Math.max(0, atMs - sinceMs)];
  });
}
