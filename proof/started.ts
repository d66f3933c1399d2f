import type { FakeProvider } from '../test/fake-provider.ts';
import type { Load } from './load.ts';

/** How long after its 202 each run of a load was begun: a call of the model, found by its prompt. In milliseconds. */
export function startedAfter(provider: FakeProvider, load: Load): number[] {
  const answeredMs = new Map(load.sent.map((one) => [`Hello ${one.name}`, one.answeredMs]));
  return provider.calls.flatMap(({ body, atMs }) => {
    const sinceMs = answeredMs.get(String(body?.messages?.at(-1)?.content));
    return sinceMs === undefined ? [] : [Math.max(0, atMs - sinceMs)];
  });
}
