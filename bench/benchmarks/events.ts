import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';
import { percentile } from '../../proof/claim.ts';
import { toId } from '../../src/core/id.ts';
import { sql } from '../../src/db/sql.ts';
import type { Benchmark, BenchmarkOptions } from '../benchmark.ts';
import type { Contender, Opened } from '../contenders/contender.ts';
import { cueline, postgresDurability } from '../contenders/cueline.ts';
import {
  type EndpointOptions,
  type OpenedEndpoints,
  openEndpoints,
} from '../contenders/endpoint.ts';
import type { BenchEnvironment } from '../environment.ts';
import { figure } from '../goals.ts';
import { onSchedule } from '../load/schedule.ts';
import { finishAll } from '../measure.ts';
import { inAlternation, type Series, spread, warmUps } from '../rounds.ts';
import { hundredths, milliseconds, type Table, whole, withRange } from '../table.ts';

const before = 'without a look for endpoints';
const none = 'no endpoint';
const written = 'one endpoint, events written';
const delivered = 'one endpoint, events delivered';
const healthy = 'one endpoint';

const perSecond = 50;
/** Fewer calls would base the 99th percentile on a handful of samples. */
const secondsMin = 10;
const silentEndpoints = 19;

export const events: Benchmark = {
  name: 'events',
  description:
    'The cost of an ended execution (`cueline/echo`) in CPU time of PostgreSQL, from acceptance to end, in one process with both ' +
    `roles. *${before}*: the transaction that ends executions does not ask whether an endpoint subscribes. *${written}*: an endpoint ` +
    `subscribes to \`execution.*\`, and another process holds it without sending. *${delivered}*: a round ends once the receiver has ` +
    `all of them. Then ${perSecond} calls per second on a fixed schedule: \`completedAt\` (before the commit) to the arrival of the ` +
    'event at a receiver on the same machine.',
  goal:
    'without endpoints, at most 5 µs more than without a look for them (noise); with one, at most 15 µs more to write its events; ' +
    'an event arrives within 100 ms (p50) of the end, also beside endpoints that never answer',
  goalChecks: ([cost, arrival]) => [
    { what: none, unit: 'µs more', value: -figure(cost, before, 2), most: 5 },
    { what: written, unit: 'µs more', value: figure(cost, written, 2), most: 15 },
    ...[healthy, besideSilent].map((name) => {
      return { what: `p50, ${name}`, unit: 'ms', value: figure(arrival, name, 1), most: 100 };
    }),
  ],
  byDefault: true,
  async run(environment, options) {
    return [await measureCost(environment, options), await measureArrival(environment, options)];
  },
};

async function measureCost(
  environment: BenchEnvironment,
  { rounds, requests, connections }: BenchmarkOptions,
): Promise<Table> {
  const measure = (opened: Opened) => finishAll(environment, opened, { connections, requests });
  const contenders = [
    cueline({ name: none, roles: ['start'] }),
    cueline({ name: before, roles: ['start'], change: withoutLook }),
    withEndpoint({ name: written, sends: false }),
    withEndpoint({ name: delivered, sends: true }),
  ];
  const series = await inAlternation(
    environment,
    contenders.map((contender) => ({ contender, measure })),
    rounds,
  );
  const [base] = series;
  if (!base) throw new Error('no contender was measured');
  const storeOf = ({ samples }: Series) => samples.map(({ cpu }) => cpu.store);
  return {
    title: `Cost, ${connections} clients`,
    columns: ['', 'µs CPU of PostgreSQL per execution', 'more than with no endpoint', 'finished/s'],
    rows: series.map((one) => [
      one.contender.name,
      withRange(spread(storeOf(one)), whole),
      withRange(
        spread(storeOf(one).map((micros, round) => micros - (storeOf(base)[round] ?? 0))),
        hundredths,
      ),
      withRange(spread(one.samples.map((sample) => sample.perSecond)), whole),
    ]),
  };
}

const withoutLook = {
  name: 'without-look-for-endpoints',
  description: 'the transaction that ends executions does not ask whether an endpoint subscribes',
  file: 'engine/complete/lock-executions.ts',
  find: 'case when exists (select from endpoints p',
  replace: 'case when false and exists (select from endpoints p',
};

function withEndpoint(options: EndpointOptions): Contender {
  return {
    name: options.name,
    durability: postgresDurability,
    async open(environment) {
      const opened = await openEndpoints(environment, options);
      return {
        ...opened,
        async finished() {
          const ended = await opened.finished();
          return options.sends ? Math.min(ended, await opened.received()) : ended;
        },
      };
    },
  };
}

const besideSilent = `beside ${silentEndpoints} that never answer`;

async function measureArrival(
  environment: BenchEnvironment,
  options: BenchmarkOptions,
): Promise<Table> {
  const seconds = Math.max(options.seconds, secondsMin);
  const setups: { name: string; opened: OpenedEndpoints; rounds: number[][] }[] = [];
  try {
    for (const [name, silent] of [
      [healthy, 0],
      [besideSilent, silentEndpoints],
    ] as const) {
      const opened = await openEndpoints(environment, { name, sends: true, silent });
      setups.push({ name, opened, rounds: [] });
    }
    for (let done = -warmUps; done < options.rounds; done++) {
      for (const { opened, rounds } of setups) {
        const samples = await executeFor(opened, seconds);
        if (done >= 0) rounds.push(samples);
      }
    }
  } finally {
    for (const { opened } of setups) await opened.close();
  }
  return {
    title: `End to arrival, ${perSecond} calls per second`,
    columns: ['', 'p50', 'p99'],
    rows: setups.map(({ name, rounds }) => [
      name,
      ...[0.5, 0.99].map((share) =>
        withRange(spread(rounds.map((samples) => percentile(samples, share))), milliseconds),
      ),
    ]),
  };
}

/** Milliseconds from the end of each execution to the arrival of its event. */
async function executeFor(opened: OpenedEndpoints, seconds: number): Promise<number[]> {
  await opened.reset();
  const { host, port, path, headers, body } = opened.target;
  const pool = new Pool(`http://${host}:${port}`, { connections: 256, pipelining: 1 });
  const call = {
    ...({ method: 'POST', path, body } as const),
    headers: { ...headers, 'content-type': 'application/json' },
  };
  const calls = await onSchedule({ perSecond, seconds }, async () => {
    const { statusCode, body: answer } = await pool.request(call);
    await answer.dump();
    if (statusCode !== 202) throw new Error(`a call was answered with ${statusCode}`);
  });
  await pool.close();
  while ((await opened.received()) < calls.length) await wait(50);
  const { rows } = await sql<{ id: string; completed: number }>`
    select id, (extract(epoch from completed_at) * 1000)::float8 as completed from executions`.execute(
    opened.db,
  );
  const arrivals = await opened.arrivals();
  return rows.map(({ id, completed }) => {
    const arrivedMs = arrivals[toId('execution', id)];
    if (arrivedMs === undefined) throw new Error(`no event of ${id}`);
    return arrivedMs - completed;
  });
}
