import { setTimeout as wait } from 'node:timers/promises';
import { serverLimits } from '../../src/http/connection/slow-readers.ts';
import { type Claim, type Found, percentile } from '../claim.ts';
import { metricOf } from '../metric.ts';
import { openSlowConnections } from '../slow-connections.ts';

/** A quarter for each of four kinds of slow connections. */
const slowConnections = { test: 200, proof: 2_000 };
const calls = { test: 40, proof: 400 };
const clients = 4;
/** The allowed memory growth: a few unread responses per connection. */
const grownBytesMax = 512 * 1024 * 1024;
/** The CPU share of an idle process that still receives dripped bytes. */
const idleShare = 0.25;
const idlePollMs = 500;
const idlePollsMax = 120;
/** The longest timeout of the server, and two of its checks. */
const closeMs = serverLimits.requestMs + 2 * serverLimits.checkMs;

/**
 * A few ordinary clients, alternating without and with many slow connections. The server serves all ordinary calls, its
 * memory stays bounded, and it finally closes every slow connection.
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
      file: 'http/limits/open-requests.ts',
      find: 'const openRequestsMax = 5_000;',
      replace: 'const openRequestsMax = 20;',
    },
  ],
  async prove(environment, rounds): Promise<Found> {
    const [size, number] =
      rounds > 1 ? [slowConnections.proof, calls.proof] : [slowConnections.test, calls.test];
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
      // The claim is about the cost of open connections, not about opening them.
      if (rounds > 1 && !(await becomesIdle(url))) violations.push('the process did not get idle');
      if (slow.open() < size) violations.push(`only ${slow.open()} of ${size} slow ones are open`);
      await callAll(target, number, samplesMs[beside] ?? [], violations);
      grownBytes = Math.max(grownBytes, (await memoryOf(url)) - before);
      // The last ones stay until the server has closed them.
      if (rounds > 1 && round === rounds - 1) {
        await wait(closeMs);
        const left = Object.entries(await slow.closed()).filter(([, count]) => count < size / 4);
        for (const [kind, count] of left)
          violations.push(`${size / 4 - count} ${kind} connections are still open`);
      }
      slow.close();
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
    const [without = 0, withSlow = 0] = [alone, beside].map((name) =>
      percentile(samplesMs[name] ?? [], 0.99),
    );
    return withSlow <= without * 2
      ? []
      : [`p99 is ${withSlow} ms with slow connections and ${without} ms without`];
  },
};

const alone = 'accept, without slow connections';
const beside = 'accept, with slow connections';

async function callAll(
  target: { readonly url: string; readonly path: string; readonly key: string },
  number: number,
  samples: number[],
  violations: string[],
): Promise<void> {
  let left = number;
  const caller = async () => {
    while (left-- > 0) {
      const startedMs = performance.now();
      const response = await fetch(target.url + target.path, {
        method: 'POST',
        headers: { authorization: `Bearer ${target.key}`, 'content-type': 'application/json' },
        body: '{"variables":{"name":"you"}}',
      });
      await response.arrayBuffer();
      samples.push(performance.now() - startedMs);
      if (response.status !== 202) violations.push(`an ordinary call got ${response.status}`);
    }
  };
  await Promise.all(Array.from({ length: clients }, caller));
}

async function becomesIdle(url: string): Promise<boolean> {
  for (let poll = 0; poll < idlePollsMax; poll++) {
    const [startedMs, before] = [performance.now(), await cpuSecondsOf(url)];
    await wait(idlePollMs);
    const used = (await cpuSecondsOf(url)) - before;
    if ((used * 1_000) / (performance.now() - startedMs) < idleShare) return true;
  }
  return false;
}

const memoryOf = (url: string) => metricOf(url, 'process_resident_memory_bytes');
const cpuSecondsOf = (url: string) => metricOf(url, 'process_cpu_seconds_total');
