import { checkAnswers, countAnswers } from '../answers.ts';
import { allEnded, checkTables } from '../checker.ts';
import type { Claim, Found } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { startLoad } from '../load.ts';
import { missingPooler, poolerVersion, startPooler } from '../pooler.ts';
import { checkStartLatency, startLatencies, startLatencySample } from '../start-latency.ts';
import { until } from '../until.ts';

/**
 * A round sends calls through PgBouncer in transaction mode and kills the worker meanwhile. Before the first round, the
 * claim measures how soon executions start without notifications.
 */

const callsPerRound = 30;
const callsAlone = 10;

export const behindPooler: Claim = {
  name: 'behind-pooler',
  description:
    'A transaction pooler changes nothing: executions are accepted, executed, resumed and ended',
  rounds: { test: 1, short: 5, full: 30 },
  roundsPerEnvironment: 15,
  missing: missingPooler,
  faults: [
    {
      name: 'prepared-statements',
      description: 'statements are prepared in a pooled session',
      file: 'db/pipeline.ts',
      find: 'statements: this.#options.connection.pooled ? null : this.#statementsOf(client),',
      replace: 'statements: this.#statementsOf(client),',
    },
  ],
  prove,
  checkGoals: checkStartLatency,
};

async function prove(environment: ProofEnvironment, rounds: number): Promise<Found> {
  const { db, leaseMs, provider } = environment;
  const pooler = await startPooler(environment.connection);
  const env = { CUELINE_LEASE_MS: String(leaseMs) };
  const spawn = (role: 'api' | 'start' | 'worker') =>
    environment.spawn(role, env, pooler.connection);
  const [api, first] = await Promise.all([spawn('api'), spawn('worker')]);
  let worker = first;
  const { key } = await environment.key();
  const agents = [
    await environment.agent({ model: 'ollama/after-100' }),
    await environment.agent({ model: 'ollama/after-20', config: { maxConcurrency: 3 } }),
  ];
  const alone = startLoad({
    ...{ urls: () => [api.url], key, agents: agents.slice(0, 1), named: 'alone' },
    ...{ clients: 1, callsMax: callsAlone },
  });
  const stalled: string[] = [];
  const arrived = async (count: number) => {
    if (await until(() => provider.calls.length >= count)) return;
    stalled.push(`only ${provider.calls.length} of ${count} model calls were made`);
  };
  await Promise.all([alone.done, arrived(callsAlone)]);
  const start = await spawn('start');
  const urls = () => [api.url, start.url];
  const sent = [...alone.sent];
  const accepted = alone.accepted();
  for (let round = 0; round < rounds && stalled.length === 0; round++) {
    const clients = { urls, key, agents, clients: 3, callsMax: callsPerRound / 2 };
    const loads = [
      startLoad({ ...clients, named: `plain-${round}` }),
      startLoad({ ...clients, retry: true, named: `retried-${round}` }),
    ];
    // Some calls are in flight, some of them in this worker.
    await arrived(provider.calls.length + 2);
    await worker.kill('SIGKILL');
    worker = await spawn('worker');
    for (const load of loads) {
      await load.stop();
      sent.push(...load.sent);
      accepted.push(...load.accepted());
    }
  }
  const ended = stalled.length === 0 && (await allEnded(db));
  await pooler.stop();
  return {
    counts: { [`kills behind ${poolerVersion()}`]: rounds, ...countAnswers(sent) },
    samplesMs: startLatencySample(startLatencies(provider, alone)),
    violations: [
      ...stalled,
      ...(ended ? [] : ['not all executions ended']),
      ...sent
        .filter(({ outcome }) => outcome.kind !== 'accepted')
        .map((one) => `not accepted: ${JSON.stringify(one)}`),
      ...(await checkAnswers(db, sent)),
      ...(await checkTables(db, { accepted })),
    ],
  };
}
