import { setTimeout as delay } from 'node:timers/promises';
import { startFakeProvider } from '../../harness/fake-provider.ts';
import { type Sql, sql } from '../../src/db/sql.ts';
import type { Benchmark } from '../benchmark.ts';
import { openCueline, startCueline } from '../contenders/cueline.ts';
import type { BenchEnvironment } from '../environment.ts';
import { fillQueue } from '../fill.ts';
import { figure, figures } from '../goals.ts';
import { megabytes, whole } from '../table.ts';
import { cpuMicros, residentBytes } from '../usage.ts';

const inFlight = 10_000;
/** The last eighth of the slots is reserved for other workspaces, and there are none here. */
const slots = Math.ceil((inFlight * 8) / 7) + 1;
/** Several leases, starting when all executions are in flight. */
const measureMs = 20_000;
/** Long enough that all executions are in flight during the whole of `measureMs`. */
const answerMs = 60_000;

export const inFlightBenchmark: Benchmark = {
  name: 'in-flight',
  description:
    `${whole(inFlight)} concurrent executions in one \`worker\`, with a model that takes ${answerMs / 1_000} s: a timer in ` +
    'the process (`cueline/echo?delay`), or a call over a separate socket to a provider on this machine.',
  goal: 'no lease is lost: every execution succeeds at its first attempt, with one call',
  goalChecks: ([table]) => [
    {
      what: 'executions that succeeded at attempt 1',
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
      'all started after',
      'memory before',
      'in flight',
      'per execution',
      'µs CPU of the worker per second',
      'lease left at least',
      'succeeded at attempt 1',
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
    env: { CUELINE_SLOTS: String(slots), ...env },
  });
  const workerMs = performance.now();
  const before = residentBytes(worker.pid);
  const ask = async <Row>(query: Sql) => (await query.execute(opened.db)).rows[0] as Row;
  const claimed = sql`select count(*)::int as count from execution_queue where worker is not null`;
  const queued = sql`select count(*)::int as count from execution_queue`;
  while ((await ask<{ count: number }>(claimed)).count < inFlight) await delay(50);
  const allStartedMs = performance.now();
  const cpu = cpuMicros(worker.pid);
  let leaseLeftMs = Number.POSITIVE_INFINITY;
  let memory = 0;
  while (performance.now() - allStartedMs < measureMs) {
    const { left } = await ask<{ left: number }>(sql`
      select (extract(epoch from min(lease_until) - clock_timestamp()) * 1000)::float8 as left from workers`);
    leaseLeftMs = Math.min(leaseLeftMs, left);
    memory = Math.max(memory, residentBytes(worker.pid));
    await delay(100);
  }
  const cpuPerSecond = (cpuMicros(worker.pid) - cpu) / ((performance.now() - allStartedMs) / 1_000);
  while ((await ask<{ count: number }>(queued)).count > 0) await delay(100);
  const { succeeded } = await ask<{ succeeded: number }>(sql`
    select count(*)::int as succeeded from executions where status = 'success' and attempts = 1`);
  await worker.stop();
  await opened.close();
  return [
    name,
    `${((allStartedMs - workerMs) / 1_000).toFixed(1)} s`,
    megabytes(before),
    megabytes(memory),
    `${((memory - before) / inFlight / 1_024).toFixed(1)} KiB`,
    whole(cpuPerSecond),
    `${(leaseLeftMs / 1_000).toFixed(1)} s`,
    `${whole(succeeded)} of ${whole(inFlight)}`,
  ];
}
