import { join } from 'node:path';
import { Pool } from 'undici';
import { percentile } from '../../proof/claim.ts';
import { toId } from '../../src/core/id.ts';
import { sql } from '../../src/db/sql.ts';
import type { Benchmark } from '../benchmark.ts';
import { ceiling } from '../contenders/bare.ts';
import { type OpenedCueline, openCueline } from '../contenders/cueline.ts';
import type { BenchEnvironment } from '../environment.ts';
import { figure } from '../goals.ts';
import type { Target } from '../load/job.ts';
import { epochMs, onSchedule } from '../load/schedule.ts';
import { spread, warmUps } from '../rounds.ts';
import { type Server, serversDir, startServer } from '../server.ts';
import { milliseconds, withRange } from '../table.ts';

const perSecond = 100;
const oneProcess = '`start`: one process';
/** Fewer calls would base the 99th percentile on a handful of samples. */
const secondsMin = 10;
const model = 'ollama/slow';
/** The model takes this long, so that every client already waits when its execution ends. */
const answerMs = 200;

export const latency: Benchmark = {
  name: 'latency',
  description:
    `${perSecond} calls per second on a fixed schedule, each timed from its scheduled start. *Accept*: scheduled start to ` +
    '202. *Model called*: `executedAt` (before the commit) to the arrival at a local provider. *Seen*: `completedAt` ' +
    '(before the commit) to the response of `?wait=30`. The bare server responds immediately: it measures the machine and ' +
    'the load generator.',
  goal: 'model called within 3 ms (p50) and 15 ms (p99) in one process; seen within 10 ms (p99)',
  goalChecks: ([table]) => [
    { what: 'model called p50', unit: 'ms', value: figure(table, oneProcess, 3), most: 3 },
    { what: 'model called p99', unit: 'ms', value: figure(table, oneProcess, 4), most: 15 },
    { what: 'seen p99', unit: 'ms', value: figure(table, oneProcess, 6), most: 10 },
  ],
  byDefault: true,
  async run(environment, options) {
    const seconds = Math.max(options.seconds, secondsMin);
    const baseline = await openBaseline(environment);
    const setups = await Promise.all([
      openSetup(environment, { name: oneProcess, roles: ['start'] }),
      openSetup(environment, { name: '`api` and `worker`', roles: ['api', 'worker'] }),
    ]);
    const all = [baseline, ...setups];
    for (let done = -warmUps; done < options.rounds; done++) {
      for (const { round, rounds } of all) {
        const samples = await round(seconds);
        if (done >= 0) rounds.push(samples);
      }
    }
    const rows = all.map(({ name, rounds }) => [name, ...figuresOf(rounds)]);
    for (const { close } of all) await close();
    const columns = [
      'processes',
      'accept p50',
      'p99',
      'model called p50',
      'p99',
      'seen p50',
      'p99',
    ];
    return [{ columns, rows }];
  },
};

/** The processes that respond. */
interface Setup {
  readonly name: string;
  readonly rounds: Samples[];
  round(seconds: number): Promise<Samples>;
  close(): Promise<void>;
}

interface Samples {
  readonly accept: number[];
  readonly called: number[];
  readonly seen: number[];
}

/** The share of the machine and the load generator: a server that responds immediately. */
async function openBaseline(environment: BenchEnvironment): Promise<Setup> {
  const { target, close } = await ceiling.open(environment);
  const round = async (seconds: number) => {
    const pool = poolOf(target);
    const accept = await onSchedule({ perSecond, seconds }, async (number, dueMs) => {
      await (await pool.request(executeCall(target, number))).body.json();
      return performance.now() - dueMs;
    });
    await pool.close();
    return { accept, called: [], seen: [] };
  };
  return { name: 'bare node:http', rounds: [], round, close };
}

async function openSetup(
  environment: BenchEnvironment,
  setup: { readonly name: string; readonly roles: readonly ('start' | 'api' | 'worker')[] },
): Promise<Setup> {
  const provider = await startServer({
    command: [join(serversDir, 'slow-model.ts')],
    env: { AFTER_MS: String(answerMs) },
    logFile: join(environment.directory, 'slow-model.log'),
  });
  const env = { OLLAMA_BASE_URL: `${provider.url}v1` };
  const opened = await openCueline(environment, { ...setup, model, env });
  const close = async () => {
    await opened.close();
    await provider.stop();
  };
  const round = (seconds: number) => executeFor({ opened, provider }, seconds);
  return { name: setup.name, rounds: [], round, close };
}

async function executeFor(
  { opened, provider }: { readonly opened: OpenedCueline; readonly provider: Server },
  seconds: number,
): Promise<Samples> {
  await opened.reset();
  const { headers } = opened.target;
  const pool = poolOf(opened.target);
  const calls = await onSchedule({ perSecond, seconds }, async (number, dueMs) => {
    const accepted = await pool.request(executeCall(opened.target, number));
    const { executionId, statusUrl } = (await accepted.body.json()) as Record<string, string>;
    const acceptMs = performance.now() - dueMs;
    const ended = await pool.request({ method: 'GET', path: `${statusUrl}?wait=30`, headers });
    const { status, error } = (await ended.body.json()) as Record<string, string>;
    if (status !== 'success') throw new Error(`call ${number} ended as ${status}: ${error}`);
    return { executionId, acceptMs, seenMs: performance.now() };
  });
  await pool.close();
  const { rows } = await sql<{ id: string; name: string; executed: number; completed: number }>`
    select id, input_variables ->> 'name' as name,
      (extract(epoch from executed_at) * 1000)::float8 as executed,
      (extract(epoch from completed_at) * 1000)::float8 as completed
    from executions`.execute(opened.db);
  const records = new Map(rows.map((row) => [toId('execution', row.id), row]));
  const response = await fetch(new URL('/arrivals', provider.url));
  const arrivals = (await response.json()) as Record<string, number>;
  const epoch = epochMs();
  const samples: Samples = { accept: [], called: [], seen: [] };
  for (const { executionId = '', acceptMs, seenMs } of calls) {
    const record = records.get(executionId);
    const calledMs = arrivals[`Hello ${record?.name}`];
    if (!record || calledMs === undefined) throw new Error(`no model call of ${executionId}`);
    samples.accept.push(acceptMs);
    samples.called.push(calledMs - record.executed);
    samples.seen.push(epoch + seenMs - record.completed);
  }
  return samples;
}

function poolOf({ host, port }: Target): Pool {
  return new Pool(`http://${host}:${port}`, { connections: 256, pipelining: 1 });
}

function executeCall({ path, headers }: Target, number: number) {
  const type = { 'content-type': 'application/json' };
  const body = JSON.stringify({ variables: { name: `call ${number}` } });
  return { method: 'POST', path, body, headers: { ...headers, ...type } } as const;
}

function figuresOf(rounds: readonly Samples[]): string[] {
  return (['accept', 'called', 'seen'] as const).flatMap((what) =>
    [0.5, 0.99].map((share) => {
      const each = rounds.map((samples) => samples[what]).filter(({ length }) => length > 0);
      if (each.length === 0) return '';
      return withRange(spread(each.map((samples) => percentile(samples, share))), milliseconds);
    }),
  );
}
