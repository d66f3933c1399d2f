import { setTimeout as wait } from 'node:timers/promises';
import type { CuelineProcess } from '../../harness/process.ts';
import { freezeWindows } from '../../harness/windows.ts';
import { addWorkflow, step } from '../../harness/workflow-runs.ts';
import { sql } from '../../src/db/sql.ts';
import { checkAnswers, countAnswers } from '../answers.ts';
import { allEnded, checkTables } from '../checker.ts';
import type { Claim, Found } from '../claim.ts';
import { openEnvironment, type ProofEnvironment } from '../environment.ts';
import { addEndpoints, allDelivered, checkEvents } from '../event-checks.ts';
import { type EventReceivers, startEventReceivers } from '../event-receivers.ts';
import { type Load, type Sent, startLoad } from '../load.ts';
import { startMixedCalls } from '../mixed-calls.ts';
import {
  type ClusterNode,
  missingForCluster,
  missingForFrozenPrimary,
  type PatroniCluster,
  startPatroniCluster,
} from '../patroni.ts';

/**
 * A round makes one node of a cluster fail under load, the events in turn. Half of the processes use the proxy, the others
 * name all nodes in `DATABASE_URL`.
 */

/** Commits that no standby receives are not acknowledged, however long they wait before the node is lost. */
const isolatedMs = 1_000;
const leaseMsMin = 6_000;
const clients = 3;
/** Endpoints that receive the ends of all executions. */
const receiving = ['ok', 'flaky'] as const;

export const failover: Claim = {
  name: 'failover',
  description:
    'On a cluster, the loss of any node loses and duplicates nothing that was acknowledged, and calls get 202 or 503',
  rounds: { test: 2, short: 7, full: 70 },
  roundsPerEnvironment: 70,
  missing: missingForCluster,
  faults: [
    {
      name: 'asynchronous-replication',
      description: 'commits do not wait for a standby',
      file: 'db/session-settings.ts',
      find: "  array_nulls: 'on',",
      replace: "  array_nulls: 'on', synchronous_commit: 'local',",
    },
  ],
  prove,
};

async function prove({ fault, leaseMs }: ProofEnvironment, rounds: number): Promise<Found> {
  const cluster = await startPatroniCluster();
  const options = { fault, seed: 1, leaseMs: Math.max(leaseMs, leaseMsMin), database: cluster };
  const environment = await openEnvironment(options);
  const receivers = await startEventReceivers();
  try {
    return await proveOn(environment, cluster, receivers, rounds);
  } finally {
    await receivers.close();
    await environment.close();
  }
}

async function proveOn(
  environment: ProofEnvironment,
  cluster: PatroniCluster,
  receivers: EventReceivers,
  rounds: number,
): Promise<Found> {
  const { db } = environment;
  const processes = await Processes.start(environment, cluster);
  const { key, id: keyId } = await environment.key({
    // No call reaches it, but it is counted.
    rateLimits: { requestsPerMinute: null, requestsPerHour: null, requestsPerDay: 100_000_000 },
  });
  await freezeWindows(db, keyId);
  const fast = await environment.agent({ model: 'ollama/after-50' });
  const limited = await environment.agent({
    model: 'ollama/after-50',
    config: { maxConcurrency: 4 },
  });
  const slow = await environment.agent({ model: 'ollama/after-3000' });
  const workflow = await addWorkflow(environment, {
    input: { required: ['name'], optional: [], defaults: {} },
    steps: [
      step({ name: 'first', agent: fast, variables: { name: '{{input.name}}' } }),
      step({ name: 'second', agent: limited, variables: { name: '{{steps.first.output}}' } }),
    ],
  });
  const urls = processes.urls;
  await addEndpoints(urls()[0] ?? '', key, receivers, receiving);
  const shared = { urls, key, agents: [fast, limited], clients, pauseMs: 20 };
  const loads = [startLoad(shared), startLoad({ ...shared, retry: true, named: 'retried' })];
  const { key: mixedKey } = await environment.key();
  const mixed = startMixedCalls({ urls, key: mixedKey, agent: fast, slowAgent: slow, workflow });
  const samplesMs: Record<string, number[]> = {};
  const failures: string[] = [];
  const possible = possibleEvents();
  for (let round = 0; round < rounds && failures.length === 0; round++) {
    const [name, event] = possible[round % possible.length] as (typeof events)[number];
    try {
      const gapMs = await longestGap(loads, () => event(cluster, processes));
      const label = `time without accepts, ${name}`;
      samplesMs[label] = [...(samplesMs[label] ?? []), gapMs];
      console.log(`    ${name}: ${Math.round(gapMs)} ms without accepts`);
    } catch (error) {
      failures.push(`${name}: ${(error as Error).message}`);
    }
  }
  await Promise.all([...loads.map((load) => load.stop()), mixed.stop()]);
  const ended = await allEnded(db);
  const sent = loads.flatMap((load) => load.sent);
  const accepted = [...loads.flatMap((load) => load.accepted()), ...mixed.accepted];
  const answers = await checkAnswers(db, sent);
  const delivered = await allDelivered(db, receiving);
  return {
    counts: {
      ...{ events: rounds, ...countAnswers(sent), ...mixed.counts },
      replays: replaysOf(sent).length,
      'received webhooks': receivers.arrivals.length,
    },
    samplesMs,
    violations: [
      ...failures,
      ...mixed.violations,
      ...(ended ? [] : ['not all executions ended']),
      ...(delivered ? [] : ['not every event was delivered']),
      ...(await checkEvents(db, receivers.arrivals, receiving)),
      ...answers.filter(
        (violation) => !/^an execution did not succeed.*"canceled"/.test(violation),
      ),
      ...(await checkTables(db, { accepted, allowUnknown: true })),
      ...(await checkKeyCount(environment, keyId, sent)),
    ],
  };
}

/**
 * The key's limit has counted each accepted execution once, and each replay of a 202 once more. A replay whose response was
 * lost counts too, and only its retries tell of it.
 */
async function checkKeyCount(
  { db }: ProofEnvironment,
  keyId: string,
  sent: readonly Sent[],
): Promise<string[]> {
  const { rows } = await sql<{ counted: number; accepted: number }>`
    select day_used as counted,
      (select count(*)::int from executions
        where api_key_id = ${keyId} and status not in ('rate_limited', 'unauthorized')) as accepted
    from limits where subject = ${keyId}`.execute(db);
  const { counted = 0, accepted = 0 } = rows[0] ?? {};
  const replayed = replaysOf(sent);
  const unsure = sent.filter(({ outcome }) => outcome.kind !== 'accepted' || outcome.replayed);
  const most = accepted + unsure.reduce((sum, { tries }) => sum + tries - 1, 0);
  if (counted >= accepted + replayed.length && counted <= most) return [];
  return [`the limit counted ${counted} of ${accepted} executions and ${replayed.length} replays`];
}

function replaysOf(sent: readonly Sent[]): readonly Sent[] {
  return sent.filter(({ outcome }) => outcome.kind === 'accepted' && outcome.replayed);
}

const primaryFrozen = 'primary frozen';

type Event = (cluster: PatroniCluster, processes: Processes) => Promise<void>;

const events: readonly (readonly [string, Event])[] = [
  [
    'primary killed',
    async (cluster) => {
      const primary = await cluster.healthy();
      await primary.killPostgres();
    },
  ],
  [
    'node lost',
    async (cluster) => {
      const primary = await cluster.healthy();
      await primary.stopSending();
      await wait(isolatedMs);
      await primary.kill();
      await replaced(cluster, primary);
      primary.start();
    },
  ],
  [
    primaryFrozen,
    async (cluster) => {
      const primary = await cluster.healthy();
      await primary.freeze();
      await replaced(cluster, primary);
      primary.resume();
    },
  ],
  [
    'primary cut off from etcd',
    async (cluster) => {
      const primary = await cluster.healthy();
      primary.cut();
      await replaced(cluster, primary);
      primary.heal();
    },
  ],
  [
    'standby lost',
    async (cluster) => {
      const primary = await cluster.healthy();
      const standby = await synchronousStandby(cluster, primary);
      await standby.kill();
      // Another standby confirms commits meanwhile.
      await wait(10_000);
      standby.start();
    },
  ],
  [
    'switchover',
    async (cluster) => {
      const primary = await cluster.healthy();
      await asked(primary, '/switchover', { leader: primary.name });
      await replaced(cluster, primary);
    },
  ],
  [
    'rolling restart',
    async (cluster, processes) => {
      const primary = await cluster.healthy();
      for (const node of cluster.nodes) if (node !== primary) await restarted(cluster, node);
      await restarted(cluster, primary);
      await processes.restartAll();
    },
  ],
];

function possibleEvents(): typeof events {
  const missing = missingForFrozenPrimary();
  if (missing === null) return events;
  console.log(`    ${primaryFrozen}: skipped: ${missing}`);
  return events.filter(([name]) => name !== primaryFrozen);
}

async function replaced(cluster: PatroniCluster, old: ClusterNode): Promise<void> {
  const untilMs = performance.now() + replacedMsMax;
  for (;;) {
    if (performance.now() > untilMs) throw new Error('no other node became the primary');
    const now = await cluster.primary();
    if (now && now !== old) return;
    await wait(100);
  }
}

async function restarted(cluster: PatroniCluster, node: ClusterNode): Promise<void> {
  await asked(node, '/restart', {});
  await cluster.healthy();
}

async function synchronousStandby(
  { nodes }: PatroniCluster,
  primary: ClusterNode,
): Promise<ClusterNode> {
  const { text } = await primary.ask('GET', '/cluster');
  const { members } = JSON.parse(text) as { members: { name: string; role: string }[] };
  const synchronous = members.find(({ role }) => role === 'sync_standby')?.name;
  const node = nodes.find(({ name }) => name === synchronous);
  if (node) return node;
  throw new Error('there is no synchronous standby');
}

async function asked(node: ClusterNode, path: string, body: object): Promise<void> {
  const { status, text } = await node.ask('POST', path, body);
  if (status >= 300) throw new Error(`${path} of ${node.name}: ${status} ${text}`);
}

/** Runs the event until calls are accepted again for a while; the longest time between two accepted calls. */
async function longestGap(loads: readonly Load[], event: () => Promise<void>): Promise<number> {
  const fromMs = performance.now();
  await event();
  const overMs = performance.now();
  for (;;) {
    const last = Math.max(...acceptedTimes(loads, overMs));
    if (last > overMs + settledMs) break;
    if (performance.now() > overMs + recoveryMsMax)
      throw new Error('nothing was accepted afterwards');
    await wait(50);
  }
  const times = [fromMs, ...acceptedTimes(loads, fromMs)].sort((a, b) => a - b);
  return Math.max(...times.slice(1).map((ms, at) => ms - (times[at] ?? ms)));
}

const settledMs = 2_000;
const recoveryMsMax = 120_000;
const replacedMsMax = 120_000;

/** The latest first: a load is long. */
function acceptedTimes(loads: readonly Load[], sinceMs: number): number[] {
  const times: number[] = [];
  for (const { sent } of loads) {
    for (let at = sent.length - 1; at >= 0; at--) {
      const one = sent[at];
      if (!one || one.answeredMs < sinceMs) break;
      if (one.outcome.kind === 'accepted') times.push(one.answeredMs);
    }
  }
  return times;
}

/** Two processes that serve and two that work; one of each goes through the proxy. */
class Processes {
  readonly #environment: ProofEnvironment;
  readonly #cluster: PatroniCluster;
  readonly #running: (CuelineProcess | null)[] = [];

  private constructor(environment: ProofEnvironment, cluster: PatroniCluster) {
    this.#environment = environment;
    this.#cluster = cluster;
  }

  static async start(environment: ProofEnvironment, cluster: PatroniCluster): Promise<Processes> {
    const processes = new Processes(environment, cluster);
    for (const at of roles.keys()) processes.#running[at] = await processes.#spawn(at);
    return processes;
  }

  /** Of those that accept calls. Workers have an address too. */
  readonly urls = (): readonly string[] =>
    this.#running.flatMap((one, at) => (one && roles[at] === 'api' ? one.url : []));

  async restartAll(): Promise<void> {
    for (const at of roles.keys()) {
      const process = this.#running[at];
      this.#running[at] = null;
      await process?.kill('SIGTERM');
      this.#running[at] = await this.#spawn(at);
    }
  }

  #spawn(at: number): Promise<CuelineProcess> {
    const { leaseMs } = this.#environment;
    const { directUrl, standbyUrl } = this.#cluster;
    return this.#environment.spawn(roles[at] ?? 'worker', {
      CUELINE_LEASE_MS: String(leaseMs),
      DATABASE_READ_URL: standbyUrl,
      CUELINE_ALLOWED_HOSTS: '127.0.0.1',
      ...(at % 2 === 1 && { DATABASE_URL: directUrl }),
    });
  }
}

const roles = ['api', 'api', 'worker', 'worker'] as const;
