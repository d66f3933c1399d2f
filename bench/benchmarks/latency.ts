import { join } from 'node:path';
import { sql } from 'kysely';
import { Pool } from 'undici';
import { percentile } from '../../proof/claim.ts';
import { toId } from '../../src/core/id.ts';
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
/** Fewer calls would make a 99th percentile of a handful. */
const secondsMin = 10;
const model = 'ollama/slow';
/** Of the model: long enough that every caller waits by the time its run ends. */
const answerMs = 200;

export const latency: Benchmark = {
  name: 'latency',
  description:
    `${perSecond} calls a second on a fixed schedule, each timed from when it was due. *Accept*: due to 202. *Model ` +
    'called*: from `executedAt` (the database accepts, before the commit) to the call at a provider on a socket of this ' +
    'machine. *Seen*: from `completedAt` (before the commit) to the answer of the caller that waits with `?wait=30`. The bare server ' +
    'answers at once: it measures the machine and the load generator.',
  goal: 'model called within 3 ms (p50) and 15 ms (p99) in one process; seen within 10 ms (p99)',
  goalChecks: ([table]) => [
    { what: 'model called p50', unit: 'ms', value: figure(table, oneProcess, 3), most: 3 },
    { what: 'model called p99', unit: 'ms', value: figure(table, oneProcess, 4), most: 15 },
    { what: 'seen p99', unit: 'ms', value: figure(table, oneProcess, 6), most: 10 },
  ],
  byDefault: true,
  async run(environment, how) {
    const seconds = Math.max(how.seconds, secondsMin);
    const floor = await openFloor(environment);
    const forms = await Promise.all([
      openForm(environment, { name: oneProcess, roles: ['start'] }),
      openForm(environment, { name: '`api` and `worker`', roles: ['api', 'worker'] }),
    ]);
    const all = [floor, ...forms];
    for (let made = -warmUps; made < how.rounds; made++) {
      for (const { round, rounds } of all) {
        const samples = await round(seconds);
        if (made >= 0) rounds.push(samples);
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

/** Who answers the calls. */
interface Form {
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

/** The share of the machine and the load generator: a server that responds at once and does nothing else. */
async function openFloor(environment: BenchEnvironment): Promise<Form> {
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

async function openForm(
  environment: BenchEnvironment,
  form: { readonly name: string; readonly roles: readonly ('start' | 'api' | 'worker')[] },
): Promise<Form> {
  const provider = await startServer({
    command: [join(serversDir, 'slow-model.ts')],
    env: { AFTER_MS: String(answerMs) },
    logFile: join(environment.directory, 'slow-model.log'),
  });
  const env = { OLLAMA_BASE_URL: `${provider.url}v1` };
  const opened = await openCueline(environment, { ...form, model, env });
  const close = async () => {
    await opened.close();
    await provider.stop();
  };
  const round = (seconds: number) => runsFor({ opened, provider }, seconds);
  return { name: form.name, rounds: [], round, close };
}

async function runsFor(
  { opened, provider }: { readonly opened: OpenedCueline; readonly provider: Server },
  seconds: number,
): Promise<Samples> {
  await opened.reset();
  const { headers } = opened.target;
  const pool = poolOf(opened.target);
  const callers = await onSchedule({ perSecond, seconds }, async (number, dueMs) => {
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
  const answer = await fetch(new URL('/arrivals', provider.url));
  const arrivals = (await answer.json()) as Record<string, number>;
  const epoch = epochMs();
  const found = callers.map(({ executionId = '', acceptMs, seenMs }) => {
    const record = records.get(executionId);
    const calledMs = arrivals[`Hello ${record?.name}`];
    if (!record || calledMs === undefined) throw new Error(`no trace of ${executionId}`);
    return {
      acceptMs,
      called: calledMs - record.executed,
      seen: epoch + seenMs - record.completed,
    };
  });
  return {
    accept: found.map(({ acceptMs }) => acceptMs),
    called: found.map(({ called }) => called),
    seen: found.map(({ seen }) => seen),
  };
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
