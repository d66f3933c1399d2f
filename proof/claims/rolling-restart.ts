import { setTimeout as wait } from 'node:timers/promises';
import type { TestAgent } from '../../harness/agents.ts';
import type { CuelineProcess } from '../../harness/process.ts';
import { fromId } from '../../src/core/id.ts';
import { sql } from '../../src/db/sql.ts';
import { allEnded, checkTables } from '../checker.ts';
import type { Claim } from '../claim.ts';
import { type ProofEnvironment, shuffle } from '../environment.ts';
import { type KeepAliveClient, keepAliveClient } from '../keep-alive.ts';

/**
 * A round replaces two `api` and two `worker` processes one by one in random order, like a rolling deployment. The
 * replacement starts before the old process stops, or after it on the same port.
 */

const busyClients = 8;
const busyPauseMs = 5;
/** They pause for about the idle timeout, so that the server may close their connections. */
const patientClients = 8;
const patientMs = { least: 3_500, spread: 3_000 };
/** The default, so that no worker loses its lease on a busy machine. */
const defaultLease = { CUELINE_LEASE_MS: '6000' };

interface Instance {
  readonly role: 'api' | 'worker';
  process: CuelineProcess;
}

interface Callers {
  readonly executionIds: string[];
  readonly failures: string[];
  requests: number;
  refused(): number;
  stop(): Promise<void>;
}

export const rollingRestart: Claim = {
  name: 'rolling-restart',
  description:
    'Replacing every process one by one fails no execution, and no request of a client that retries only on refused connections',
  rounds: { test: 1, short: 3, full: 30 },
  roundsPerEnvironment: 10,
  faults: [
    {
      name: 'refused-keep-alive',
      description: 'keep-alive requests during shutdown are refused',
      file: 'http/connection/graceful-shutdown.ts',
      find: 'started = true;',
      replace: `started = true;
        server.removeAllListeners('request');
        server.on('request', (_request, response) => response.writeHead(503).end('{}'));`,
    },
    {
      name: 'closed-during-request',
      description: 'connections are closed during a request',
      file: 'http/connection/graceful-shutdown.ts',
      find: 'await Promise.race([closed, sleep(Math.min(deadlineMs, unusableMs) - performance.now())]);',
      replace: 'server.closeAllConnections();',
    },
  ],
  async prove(environment, rounds) {
    const agent = await environment.agent({ model: 'ollama/after-50' });
    const { key } = await environment.key();
    const roles = ['api', 'worker', 'api', 'worker'] as const;
    const instances: Instance[] = await Promise.all(
      roles.map(async (role) => ({ role, process: await environment.spawn(role, defaultLease) })),
    );
    const stopping = new Set<string>();
    const urls = () => [
      ...instances.flatMap(({ role, process }) => (role === 'api' ? process.url : [])),
      ...stopping,
    ];
    const callers = startCallers({ agent, key, urls, patient: rounds > 1 ? patientClients : 0 });
    const exitMs: number[] = [];
    const violations: string[] = [];
    for (let round = 0; round < rounds; round++) {
      for (const instance of shuffle(instances, environment.random)) {
        const exit = await replace(environment, instance, stopping);
        exitMs.push(exit.ms);
        if (exit.code !== 0) violations.push(`${instance.role} exited with ${exit.code}`);
      }
    }
    await callers.stop();
    if (!(await allEnded(environment.db))) violations.push('not all executions ended');
    const { rows } = await sql<{ status: string; n: number }>`
      select status, count(*) as n from executions where status <> 'success' group by 1`.execute(
      environment.db,
    );
    violations.push(
      ...callers.failures,
      ...rows.map(({ status, n }) => `${n} executions are ${status}`),
      ...(await checkTables(environment.db, { accepted: callers.executionIds })),
    );
    const counts = {
      restarts: exitMs.length,
      requests: callers.requests,
      'requests that failed': callers.failures.length,
      'refused connections': callers.refused(),
      executions: callers.executionIds.length,
    };
    return { counts, samplesMs: { 'SIGTERM to exit': exitMs }, violations };
  },
};

/** Clients call the old process until it has exited. */
async function replace(environment: ProofEnvironment, instance: Instance, stopping: Set<string>) {
  const { role, process: old } = instance;
  const startFirst = environment.random() < 0.5;
  if (startFirst) {
    instance.process = await environment.spawn(role, defaultLease);
    if (role === 'api') stopping.add(old.url);
  }
  const signaledMs = performance.now();
  await old.kill('SIGTERM');
  const ms = performance.now() - signaledMs;
  stopping.delete(old.url);
  if (!startFirst) {
    instance.process = await environment.spawn(role, { ...defaultLease, ...samePort(old) });
  }
  return { ms, code: old.child.exitCode };
}

function samePort({ url }: CuelineProcess): Record<string, string> {
  return url ? { PORT: new URL(url).port } : {};
}

/** Each client executes, waits for the end, and repeats. Every unexpected response is a failure. */
function startCallers(options: {
  readonly agent: TestAgent;
  readonly key: string;
  readonly urls: () => readonly string[];
  readonly patient: number;
}): Callers {
  const { agent, patient } = options;
  const stopped = new AbortController();
  const clients: KeepAliveClient[] = [];
  const callers: Callers = {
    executionIds: [],
    failures: [],
    requests: 0,
    refused: () => clients.reduce((sum, { refused }) => sum + refused, 0),
    async stop() {
      stopped.abort();
      await all;
      for (const client of clients) client.close();
    },
  };

  async function caller(first: number, pauseMs: () => number): Promise<void> {
    const client = keepAliveClient({ ...options, first });
    clients.push(client);
    const send = async (expected: number, ...call: Parameters<KeepAliveClient['send']>) => {
      callers.requests++;
      const answer = await client.send(...call).catch(({ message, code }) => {
        callers.failures.push(`${call[0]} failed: ${code} ${message}`);
        return null;
      });
      if (answer && answer.status !== expected) {
        callers.failures.push(`${call[0]} got ${JSON.stringify(answer)}`);
      }
      return answer?.status === expected ? answer.body : null;
    };
    for (let n = 0; !stopped.signal.aborted; n++) {
      const variables = { name: `${first}-${n}` };
      const accepted = await send(202, 'POST', `${agent.path}/execute`, { variables });
      if (accepted) {
        callers.executionIds.push(fromId('execution', accepted.executionId) ?? '');
        await send(200, 'GET', `${accepted.statusUrl}?wait=2`);
      }
      const ms = pauseMs();
      await wait(ms, undefined, { signal: stopped.signal }).catch(() => {});
    }
  }

  const pause = () => patientMs.least + Math.random() * patientMs.spread;
  const all = Promise.all([
    ...Array.from({ length: busyClients }, (_, n) => caller(n, () => busyPauseMs)),
    ...Array.from({ length: patient }, (_, n) => caller(busyClients + n, pause)),
  ]);
  return callers;
}
