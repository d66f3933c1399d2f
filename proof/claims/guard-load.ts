import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { Agent, request } from 'undici';
import { addWorkspace } from '../../harness/people.ts';
import type { AttackThread } from '../attack-thread.ts';
import { type Attack, type AttackTarget, attackersDeclaration, attacks } from '../attacks.ts';
import { type Claim, type Found, percentile } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { metricOf } from '../metric.ts';

/**
 * One workspace, or someone without a key, sends what is expensive, again and again, while another workspace executes an
 * agent.
 */

const calls = { test: 20, proof: 200 };
/** Calls of the other workspace at once. */
const clients = 2;
const lagMsGoal = 50;
const addedMsGoal = 50;
const residentBytesMax = 1e9;

export const guardLoad: Claim = {
  name: 'guard-load',
  description: 'Expensive requests of one caller do not stop, delay or fill the server for others',
  // No test runs it: it takes minutes of both cores.
  rounds: { test: 0, short: 3, full: 10 },
  roundsPerEnvironment: 1,
  faults: [
    {
      name: 'whole-shares',
      description: 'one workspace may use all slots of a resource',
      file: 'core/shares.ts',
      find: 'this.workspaceMax = Math.max(1, max - Math.ceil(max / 10));',
      replace: 'this.workspaceMax = max;',
      rounds: 1,
    },
    {
      name: 'unlimited-bytes',
      description: 'streams hold any number of bytes',
      file: 'core/byte-shares.ts',
      find: 'return own + bytes <= this.workspaceMax && this.#total + bytes <= this.max;',
      replace: 'return true;',
      rounds: 1,
    },
    {
      name: 'unlimited-bodies',
      description: 'requests hold any number of bodies',
      file: 'http/limits/body-bytes.ts',
      find: 'if (bytes <= uncountedMax) return true;',
      replace: 'return true;',
      rounds: 1,
    },
    {
      name: 'unlimited-inputs',
      description: 'executions run whatever they hold',
      file: 'engine/run/slot-count.ts',
      find: 'return !isReserved && inputBytes <= this.freeBytes;',
      replace: 'return !isReserved;',
      rounds: 1,
    },
  ],
  prove,
  checkGoals({ samplesMs = {} }) {
    const usual = percentile(samplesMs[alone] ?? [], 0.99);
    const most = Math.max(2 * usual, usual + addedMsGoal);
    return Object.entries(samplesMs).flatMap(([name, samples]) => {
      const p99 = percentile(samples, 0.99);
      const goal = name.startsWith(lag) ? lagMsGoal : most;
      return p99 <= goal
        ? []
        : [`${name}: p99 is ${p99.toFixed(1)} ms, at most ${goal.toFixed(1)}`];
    });
  },
};

const alone = 'execute, alone';
const lag = 'lag (p99)';

async function prove(environment: ProofEnvironment, rounds: number): Promise<Found> {
  const { url, child } = await environment.spawn('start');
  const target = await addAttacker(environment, url);
  const { key } = await environment.key();
  const { path } = await environment.agent({ model: 'cueline/echo' });
  const victim = { url, path, key };
  const samplesMs: Record<string, number[]> = { [alone]: [] };
  const violations: string[] = [];
  const number = rounds > 1 ? calls.proof : calls.test;
  await callAll(victim, number, [], []);
  for (let round = 0; round < rounds; round++) {
    await callAll(victim, number, samplesMs[alone] ?? [], violations);
    for (const attack of attacks) {
      // A reading begins the next one.
      await lagMsOf(url);
      const stop = startAttack(attack, target);
      const name = `execute, beside ${attack.name}`;
      const lagName = `${lag}, beside ${attack.name}`;
      samplesMs[name] ??= [];
      samplesMs[lagName] ??= [];
      await callAll(victim, number, samplesMs[name], violations);
      violations.push(
        ...(await refusedUses(victim)).map((what) => `${what}, beside ${attack.name}`),
      );
      await stop();
      samplesMs[lagName].push(await lagMsOf(url));
    }
  }
  const peak = peakBytes(Number(child.pid));
  if (peak > residentBytesMax) violations.push(`the process had ${peak} bytes at its peak`);
  const counts = { attacks: attacks.length, 'MB at the peak': Math.round(peak / 1e6) };
  return { counts, samplesMs, violations };
}

/** Another workspace, with a key and the agents of the attacks. */
async function addAttacker(environment: ProofEnvironment, url: string): Promise<AttackTarget> {
  const { workspaceId, ownerId: userId } = await addWorkspace(environment.db);
  const { key } = await environment.key({ workspaceId, userId });
  const response = await fetch(`${url}/api/v1/declaration`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ declaration: attackersDeclaration }),
  });
  if (!response.ok) throw new Error(`the attacker has no agents: ${await response.text()}`);
  return { url, key };
}

/** Its callers repeat their requests until it is stopped. */
function startAttack({ name }: Attack, target: AttackTarget): () => Promise<void> {
  const workerData: AttackThread = { name, target };
  const thread = new Worker(new URL('../attack-thread.ts', import.meta.url), { workerData });
  const ended = once(thread, 'exit');
  return async () => {
    thread.postMessage('stop');
    await ended;
  };
}

/**
 * Callers keep their connections. Node accepts one new connection in each turn of the event loop, so a new one waits behind those
 * of an attack. The server closes idle connections later than these, so never while this process sends on one.
 */
const dispatcher = new Agent({ keepAliveTimeout: 1_000, keepAliveMaxTimeout: 1_000 });

/** Whose calls must not suffer. `path` is that of its agent. */
interface Victim {
  readonly url: string;
  readonly path: string;
  readonly key: string;
}

/** Uses of what is shared, once each. */
async function refusedUses({ url, path, key }: Victim): Promise<string[]> {
  const headers = { authorization: `Bearer ${key}` };
  const jsonLines = { ...headers, 'content-type': 'application/jsonl' };
  const body = '{"id":"1","variables":{"name":"you"}}\n';
  const uses = [
    { name: 'a list', request: send(`${url}${path}/executions`, { headers }) },
    {
      name: 'an upload',
      request: send(`${url}${path}/batches`, { method: 'POST', headers: jsonLines, body }),
    },
  ];
  const answered = uses.map(async ({ name, request }) => {
    const status = await request;
    return status === 200 || status === 202 ? [] : [`${name} got ${status}`];
  });
  return (await Promise.all(answered)).flat();
}

async function callAll(
  { url, path, key }: Victim,
  number: number,
  samples: number[],
  violations: string[],
): Promise<void> {
  let left = number;
  const client = async () => {
    while (left-- > 0) {
      const startedMs = performance.now();
      const response = await send(`${url}${path}/execute`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: '{"variables":{"name":"you"}}',
      });
      samples.push(performance.now() - startedMs);
      if (response !== 202) violations.push(`a call of the other got ${response}`);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
}

interface RequestOptions {
  readonly method?: 'POST';
  readonly headers: Record<string, string>;
  readonly body?: string;
}

/** The status, or why there is none. */
async function send(url: string, init: RequestOptions): Promise<number | string> {
  try {
    const { statusCode, body } = await request(url, { ...init, dispatcher });
    await body.dump();
    return statusCode;
  } catch (error) {
    return String((error as Error).cause ?? error);
  }
}

/** The 99th percentile since the last reading. */
async function lagMsOf(url: string): Promise<number> {
  return 1_000 * (await metricOf(url, 'nodejs_eventloop_lag_p99_seconds'));
}

/** The most memory that the process ever had. */
function peakBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return 1_024 * Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
}
