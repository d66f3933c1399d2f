import { setTimeout as wait } from 'node:timers/promises';
import { type Claim, type Found, percentile } from '../claim.ts';
import { metricOf } from '../metric.ts';
import { openSlowConnections } from '../slow-connections.ts';

/** Of each of four ways to be slow a quarter. */
const crowd = { test: 200, proof: 2_000 };
const calls = { test: 40, proof: 400 };
const callersAtOnce = 4;
/** What the process may grow by while the crowd is there: a few pages of answers that nobody takes, for each. */
const grownBytesMax = 512 * 1024 * 1024;
/** What a process at rest may still take of one core, a few dripping bytes being taken in all the time. */
const restShare = 0.25;
const restLookMs = 500;
const restLooksMax = 120;
/** The longest limit of the server, and its next look. */
const gapMs = 70_000;

/**
 * A crowd of slow connections beside a few ordinary callers, without and with it in turn. The ordinary ones are all
 * served, the process does not grow without bound, and in the end the server has closed every one of the slow.
 */
export const slowClients: Claim = {
  name: 'slow-clients',
  description: 'Slow connections do not delay other clients, and are closed',
  rounds: { test: 1, short: 3, full: 10 },
  roundsPerEnvironment: 10,
  faults: [
    {
      name: 'low-request-limit',
      description: 'the server handles only a few requests at once',
      file: 'api/http/open-requests.ts',
      find: 'const openRequestsMax = 5_000;',
      replace: 'const openRequestsMax = 20;',
    },
  ],
  async prove(environment, rounds): Promise<Found> {
    const [size, number] = rounds > 1 ? [crowd.proof, calls.proof] : [crowd.test, calls.test];
    const samplesMs: Record<string, number[]> = { [alone]: [], [beside]: [] };
    const violations: string[] = [];
    const { key } = await environment.key();
    const { path } = await environment.agent({ model: 'cueline/echo' });
    const { url } = await environment.spawn('start');
    const target = { url, path: `${path}/execute`, key };
    let grownBytes = 0;
    await callAll(target, number, [], []);
    for (let round = 0; round < rounds; round++) {
      await callAll(target, number, samplesMs[alone] ?? [], violations);
      const before = await memoryOf(url);
      const slow = await openSlowConnections(target, size);
      // To open so many at once is work; what is asked here is what they cost while they stay.
      if (rounds > 1 && !(await comesToRest(url))) violations.push('the crowd gives no rest');
      if (slow.open() < size) violations.push(`only ${slow.open()} of ${size} slow are let in`);
      await callAll(target, number, samplesMs[beside] ?? [], violations);
      grownBytes = Math.max(grownBytes, (await memoryOf(url)) - before);
      // The last crowd stays until the server is through with it.
      if (rounds > 1 && round === rounds - 1) {
        await wait(gapMs);
        const left = Object.entries(await slow.closed()).filter(([, count]) => count < size / 4);
        for (const [way, count] of left)
          violations.push(`${size / 4 - count} ${way} are still there`);
      }
      slow.leave();
    }
    if (grownBytes > grownBytesMax) violations.push(`the process grew by ${grownBytes} bytes`);
    const megabytes = Math.round(grownBytes / 1024 / 1024);
    return {
      counts: { 'slow connections': size, 'MiB grown at most': megabytes },
      samplesMs,
      violations,
    };
  },
  checkGoals({ samplesMs = {} }) {
    const [without = 0, along = 0] = [alone, beside].map((name) =>
      percentile(samplesMs[name] ?? [], 0.99),
    );
    return along <= without * 2
      ? []
      : [`p99 is ${along} ms beside the slow and ${without} ms without`];
  },
};

const alone = 'accept, alone';
const beside = 'accept, beside the slow';

async function callAll(
  target: { readonly url: string; readonly path: string; readonly key: string },
  number: number,
  samples: number[],
  violations: string[],
): Promise<void> {
  let left = number;
  const caller = async () => {
    while (left-- > 0) {
      const begun = performance.now();
      const response = await fetch(target.url + target.path, {
        method: 'POST',
        headers: { authorization: `Bearer ${target.key}`, 'content-type': 'application/json' },
        body: '{"variables":{"name":"you"}}',
      });
      await response.arrayBuffer();
      samples.push(performance.now() - begun);
      if (response.status !== 202)
        violations.push(`an ordinary call was answered ${response.status}`);
    }
  };
  await Promise.all(Array.from({ length: callersAtOnce }, caller));
}

async function comesToRest(url: string): Promise<boolean> {
  for (let look = 0; look < restLooksMax; look++) {
    const [begun, before] = [performance.now(), await cpuSecondsOf(url)];
    await wait(restLookMs);
    const used = (await cpuSecondsOf(url)) - before;
    if ((used * 1_000) / (performance.now() - begun) < restShare) return true;
  }
  return false;
}

const memoryOf = (url: string) => metricOf(url, 'process_resident_memory_bytes');
const cpuSecondsOf = (url: string) => metricOf(url, 'process_cpu_seconds_total');
