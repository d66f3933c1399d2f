import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { startFakeProvider } from '../../harness/fake-provider.ts';
import type { Benchmark } from '../benchmark.ts';
import { openCueline, startCueline } from '../contenders/cueline.ts';
import type { BenchEnvironment } from '../environment.ts';
import { fillQueue } from '../fill.ts';
import { figure, figures } from '../goals.ts';
import { megabytes, whole } from '../table.ts';
import { cpuMicros, residentBytes } from '../usage.ts';

const inFlight = 10_000;
/** The last eighth of the slots is kept for workspaces that hold none, and here there is but one. */
const slots = Math.ceil((inFlight * 8) / 7) + 1;
/** Several leases long, counted from when the last run has begun. */
const holdMs = 20_000;
/** A run takes this long, so that all are in flight at once for the whole of `holdMs`. */
const answerMs = 60_000;

export const inFlightBenchmark: Benchmark = {
  name: 'in-flight',
  description:
    `${whole(inFlight)} runs at once in one \`worker\`, on a model that takes ${answerMs / 1_000} s: as a timer in the ` +
    'process (`cueline/echo?delay`), and as a call on a socket of its own to a provider on this machine.',
  goal: 'the lease is never lost: every run ends well at its first attempt, with one call',
  goalChecks: ([table]) => [
    {
      what: 'runs that ended well at attempt 1',
      value: Math.min(...figures(table, 7)),
      least: inFlight,
    },
    { what: 'calls', value: figure(table, 'sockets', 8), most: inFlight },
  ],
  byDefault: true,
  async run(environment) {
    const provider = await startFakeProvider();
    const rows = [
      [...(await round(environment, 'timers', `cueline/echo?delay=${answerMs}`, {})), ''],
      [
        ...(await round(environment, 'sockets', `ollama/after-${answerMs}`, {
          OLLAMA_BASE_URL: provider.url,
        })),
        whole(provider.calls.length),
      ],
    ];
    await provider.close();
    const columns = [
      'waiting on',
      'all begun after',
      'memory before',
      'in flight',
      'for each run',
      'µs CPU a second meanwhile: worker',
      'lease left at least',
      'ended well at attempt 1',
      'calls',
    ];
    return [{ columns, rows }];
  },
};

async function round(
  environment: BenchEnvironment,
  name: string,
  model: string,
  env: Record<string, string>,
) {
  const opened = await openCueline(environment, { name, roles: ['api'], model });
  await fillQueue(environment, opened, inFlight);
  const worker = await startCueline(environment, opened.connection, 'worker', {
    CUELINE_SLOTS: String(slots),
    ...env,
  });
  const begun = performance.now();
  const before = residentBytes(worker.pid);
  const ask = async <Row>(query: ReturnType<typeof sql>) =>
    (await query.execute(opened.db)).rows[0] as Row;
  const leased = sql`select count(*)::int as count from execution_queue where worker is not null`;
  while ((await ask<{ count: number }>(leased)).count < inFlight) await delay(50);
  const begunMs = performance.now() - begun;
  const cpu = cpuMicros(worker.pid);
  const held = performance.now();
  let leaseLeftMs = Number.POSITIVE_INFINITY;
  let memory = 0;
  while (performance.now() - held < holdMs) {
    const { left } = await ask<{ left: number }>(sql`
      select (extract(epoch from min(lease_until) - clock_timestamp()) * 1000)::float8 as left from workers`);
    leaseLeftMs = Math.min(leaseLeftMs, left);
    memory = Math.max(memory, residentBytes(worker.pid));
    await delay(100);
  }
  const cpuPerSecond = (cpuMicros(worker.pid) - cpu) / ((performance.now() - held) / 1_000);
  while (
    (await ask<{ count: number }>(sql`select count(*)::int as count from execution_queue`)).count >
    0
  ) {
    await delay(100);
  }
  const { well } = await ask<{ well: number }>(sql`
    select count(*)::int as well from executions where status = 'success' and attempts = 1`);
  await worker.stop();
  await opened.close();
  return [
    name,
    `${(begunMs / 1_000).toFixed(1)} s`,
    megabytes(before),
    megabytes(memory),
    `${((memory - before) / inFlight / 1_024).toFixed(1)} KiB`,
    whole(cpuPerSecond),
    `${(leaseLeftMs / 1_000).toFixed(1)} s`,
    `${whole(well)} of ${whole(inFlight)}`,
  ];
}
