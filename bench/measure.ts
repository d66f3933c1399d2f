import { setTimeout as delay } from 'node:timers/promises';
import type { Opened } from './contenders/contender.ts';
import type { BenchEnvironment } from './environment.ts';
import { cpuMicros, familyOf } from './usage.ts';

/** One round with one contender. */
export interface Sample {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Microseconds of CPU per request, by process: the steadiest figure on a shared machine. */
  readonly cpu: { readonly server: number; readonly store: number; readonly generator: number };
}

/** Sends requests for this many seconds and counts the responses. */
export async function acceptFor(
  environment: BenchEnvironment,
  opened: Opened,
  { connections, seconds }: { connections: number; seconds: number },
): Promise<Sample> {
  await opened.reset();
  const before = cpuOf(opened);
  const load = await environment.generator.run({ target: opened.target, connections, seconds });
  mustBeAccepted(load.statuses);
  const { answered } = load;
  return {
    perSecond: answered / load.seconds,
    p50Ms: load.p50Ms,
    p99Ms: load.p99Ms,
    cpu: perRequest(before, cpuOf(opened), load.cpuMicros, answered),
  };
}

/**
 * Sends requests for this many executions and stops the clock when all have ended and are readable. A request may start
 * several executions (`each`).
 */
export async function finishAll(
  environment: BenchEnvironment,
  opened: Opened,
  { connections, requests, each = 1 }: { connections: number; requests: number; each?: number },
): Promise<Sample> {
  await opened.reset();
  const before = cpuOf(opened);
  const load = await environment.generator.run({
    ...{ target: opened.target, connections, requests: requests / each },
  });
  const answeredMs = performance.now();
  mustBeAccepted(load.statuses);
  while ((await opened.finished()) < requests) await delay(pollMs);
  const seconds = load.seconds + (performance.now() - answeredMs) / 1_000;
  return {
    perSecond: requests / seconds,
    p50Ms: load.p50Ms,
    p99Ms: load.p99Ms,
    cpu: perRequest(before, cpuOf(opened), load.cpuMicros, requests),
  };
}

/** Counting ended executions is more expensive for some contenders than for others. */
const pollMs = 50;

function mustBeAccepted(statuses: Readonly<Record<number, number>>): void {
  const others = Object.keys(statuses).filter((status) => status !== '202' && status !== '200');
  if (others.length > 0) throw new Error(`not all accepted: ${JSON.stringify(statuses)}`);
}

interface Usage {
  readonly server: number;
  readonly store: number;
}

/** In microseconds since the start of the processes. */
export function cpuOf({ servers, store }: Opened): Usage {
  const sum = (pids: readonly number[]) => pids.reduce((all, pid) => all + cpuMicros(pid), 0);
  return { server: sum(servers), store: store === null ? 0 : sum(familyOf(store)) };
}

function perRequest(before: Usage, after: Usage, generator: number, count: number): Sample['cpu'] {
  return {
    server: (after.server - before.server) / count,
    store: (after.store - before.store) / count,
    generator: generator / count,
  };
}
