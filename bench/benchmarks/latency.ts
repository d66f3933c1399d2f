import { sql } from 'kysely';
import { Pool } from 'undici';
import { percentile } from '../../proof/claim.ts';
import { toId } from '../../src/core/id.ts';
import { type FakeProvider, startFakeProvider } from '../../test/fake-provider.ts';
import type { Bed } from '../bed.ts';
import type { Benchmark } from '../benchmark.ts';
import { type OpenedCueline, openCueline } from '../contenders/cueline.ts';
import { epochMs, onSchedule } from '../load/schedule.ts';
import { spread } from '../rounds.ts';
import { milliseconds, withRange } from '../table.ts';

const perSecond = 100;
/** Fewer calls would make a 99th percentile of a handful. */
const secondsMin = 10;
/** Long enough that every caller waits by the time its run ends. */
const model = 'ollama/after-200';

export const latency: Benchmark = {
  name: 'latency',
  says:
    `${perSecond} calls a second on a fixed schedule, each timed from when it was due. *Accept*: due to 202. *Model ` +
    'called*: from `executedAt` (the database accepts, before the commit) to the call at a provider on a socket of this ' +
    'machine. *Seen*: from `completedAt` (before the commit) to the answer of the caller that waits with `?wait=30`.',
  goal: 'model called within 3 ms (p50) and 15 ms (p99) in one process; seen within 10 ms (p99)',
  byDefault: true,
  async run(bed, how) {
    const seconds = Math.max(how.seconds, secondsMin);
    const forms = [
      { name: '`start`: one process', roles: ['start'] },
      { name: '`api` and `worker`', roles: ['api', 'worker'] },
    ] as const;
    const rows: string[][] = [];
    const open = await Promise.all(forms.map((form) => openForm(bed, form)));
    for (const { one } of open) await round(one, 2);
    for (let made = 0; made < how.rounds; made++) {
      for (const { one, rounds } of open) rounds.push(await round(one, seconds));
    }
    for (const { name, one, rounds } of open) {
      const figures = (['accept', 'called', 'seen'] as const).flatMap((what) =>
        [0.5, 0.99].map((share) =>
          withRange(
            spread(rounds.map((samples) => percentile(samples[what], share))),
            milliseconds,
          ),
        ),
      );
      rows.push([name, ...figures]);
      await one.opened.close();
      await one.provider.close();
    }
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

interface Form {
  readonly opened: OpenedCueline;
  readonly provider: FakeProvider;
}

interface Samples {
  readonly accept: number[];
  readonly called: number[];
  readonly seen: number[];
}

async function openForm(
  bed: Bed,
  form: { readonly name: string; readonly roles: readonly ('start' | 'api' | 'worker')[] },
) {
  const provider = await startFakeProvider();
  const env = { OLLAMA_BASE_URL: provider.url };
  const one: Form = { provider, opened: await openCueline(bed, { ...form, model, env }) };
  return { name: form.name, one, rounds: [] as Samples[] };
}

async function round({ opened, provider }: Form, seconds: number): Promise<Samples> {
  await opened.reset();
  const firstCall = provider.calls.length;
  const { host, port, path, headers } = opened.target;
  const pool = new Pool(`http://${host}:${port}`, { connections: 256, pipelining: 1 });
  const callers = await onSchedule({ perSecond, seconds }, async (number, dueMs) => {
    const body = JSON.stringify({ variables: { name: `call ${number}` } });
    const type = { 'content-type': 'application/json' };
    const accepted = await pool.request({
      ...{ method: 'POST', path, body, headers: { ...headers, ...type } },
    });
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
  const calls = new Map(
    provider.calls
      .slice(firstCall)
      .map(({ body, atMs }) => [String(body.messages.at(-1).content), atMs]),
  );
  const epoch = epochMs();
  const found = callers.map(({ executionId = '', acceptMs, seenMs }) => {
    const record = records.get(executionId);
    const calledMs = calls.get(`Hello ${record?.name}`);
    if (!record || calledMs === undefined) throw new Error(`no trace of ${executionId}`);
    return {
      acceptMs,
      called: epoch + calledMs - record.executed,
      seen: epoch + seenMs - record.completed,
    };
  });
  return {
    accept: found.map(({ acceptMs }) => acceptMs),
    called: found.map(({ called }) => called),
    seen: found.map(({ seen }) => seen),
  };
}
