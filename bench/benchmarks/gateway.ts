import { join } from 'node:path';
import { Pool } from 'undici';
import { percentile } from '../../proof/claim.ts';
import type { Benchmark } from '../benchmark.ts';
import { openCueline } from '../contenders/cueline.ts';
import type { BenchEnvironment } from '../environment.ts';
import { figure, type GoalCheck } from '../goals.ts';
import { onSchedule } from '../load/schedule.ts';
import { spread, warmUps } from '../rounds.ts';
import { serversDir, startServer } from '../server.ts';
import { milliseconds, type Table, withRange } from '../table.ts';

const rates = [20, 100] as const;
/** Fewer calls would base the 99th percentile on a handful of samples. */
const secondsMin = 10;
/** Until the model responds, or streams its first text; a stream takes as long again. */
const answerMs = 50;
const names = {
  direct: 'direct',
  gateway: 'Portkey gateway',
  wait: 'Cueline, execute and wait',
  chat: 'Cueline, chat completion',
} as const;

export const gateway: Benchmark = {
  name: 'gateway',
  description:
    `Latency that is added to a direct call of a provider that responds after ${answerMs} ms, beside a gateway that stores ` +
    'nothing. Calls arrive on a fixed schedule, each timed from its scheduled start; the median of direct calls in the ' +
    'same round is subtracted. *First text* and *stream* are of a streamed chat completion.',
  goal: "median of calls at most 1.5 of the gateway's, p99 of all at most 15 ms",
  goalChecks: (tables) =>
    tables.flatMap((table) => [names.wait, names.chat].flatMap((name) => checksOf(table, name))),
  byDefault: false,
  async run(environment, options) {
    const seconds = Math.max(options.seconds, secondsMin);
    const { paths, close } = await openPaths(environment, options.note);
    try {
      const tables: Table[] = [];
      for (const perSecond of rates) {
        const rounds: Round[] = [];
        for (let done = -warmUps; done < options.rounds; done++) {
          const round = await measureAll(paths, { perSecond, seconds });
          if (done >= 0) rounds.push(round);
        }
        tables.push(tableOf(`${perSecond} calls per second`, paths, rounds));
      }
      return tables;
    } finally {
      await close();
    }
  },
};

function checksOf(table: Table, name: string): GoalCheck[] {
  const label = `${table.title}, ${name}`;
  const ofGateway = figure(table, name, 1) / figure(table, names.gateway, 1);
  const columns = name === names.wait ? [2] : [2, 4, 6];
  return [
    { what: `${label}, of the gateway's median`, value: ofGateway, most: 1.5 },
    ...columns.map((column) => ({
      ...{
        what: `${label}, ${table.columns[column - 1]?.replace('p50', 'p99')}`,
        unit: 'ms',
        most: 15,
      },
      value: figure(table, name, column),
    })),
  ];
}

/** One way to the model. */
interface Path {
  readonly name: string;
  readonly pool: Pool;
  call(number: number): Promise<void>;
  /** Resolves at the end; reports when the first text arrived. */
  stream: ((number: number) => Promise<{ firstMs: number }>) | null;
}

interface Samples {
  readonly call: number[];
  readonly first: number[];
  readonly stream: number[];
}

type Round = ReadonlyMap<string, Samples>;

async function openPaths(environment: BenchEnvironment, note: (line: string) => void) {
  const logFile = (name: string) => join(environment.directory, `${name}.log`);
  const provider = await startServer({
    command: [join(serversDir, 'slow-model.ts')],
    env: { AFTER_MS: String(answerMs) },
    logFile: logFile('slow-model'),
  });
  const portkey = await startServer({
    command: [join(serversDir, 'gateway.ts')],
    env: {},
    logFile: logFile('gateway'),
  });
  const env = { OLLAMA_BASE_URL: `${provider.url}v1` };
  const opened = await openCueline(environment, {
    ...{ name: names.chat, roles: ['start'], model: 'ollama/slow', env },
  });
  const { target, agent } = opened;
  const own = poolOf(`http://${target.host}:${target.port}`);
  const chat = (name: string, pool: Pool, headers: object, model: string): Path => ({
    ...{ name, pool },
    call: (number) => chatCall(pool, headers, model, number),
    stream: (number) => chatStream(pool, headers, model, number),
  });
  const toPortkey = {
    authorization: 'Bearer none',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `${provider.url}v1`,
  };
  const forwarded = chat(names.gateway, poolOf(portkey.url.origin), toPortkey, 'slow');
  const streams = await forwarded.stream?.(0).then(
    () => true,
    () => false,
  );
  if (!streams) note('the gateway does not stream on this version of Node');
  const paths: Path[] = [
    chat(names.direct, poolOf(provider.url.origin), {}, 'slow'),
    streams ? forwarded : { ...forwarded, stream: null },
    {
      ...{ name: names.wait, pool: own, stream: null },
      call: (number) => executeAndWait(own, target, number),
    },
    chat(names.chat, own, target.headers, agent.agentId),
  ];
  return {
    paths,
    async close() {
      for (const { pool } of paths) if (!pool.closed) await pool.close();
      await opened.close();
      await portkey.stop();
      await provider.stop();
    },
  };
}

function poolOf(origin: string): Pool {
  return new Pool(origin, { connections: 128, pipelining: 1 });
}

const json = { 'content-type': 'application/json' };

function chatRequest(headers: object, model: string, number: number, stream: boolean) {
  const messages = [{ role: 'user', content: `call ${number}` }];
  const body = JSON.stringify({ model, messages, stream });
  const path = '/v1/chat/completions';
  return { method: 'POST', path, body, headers: { ...headers, ...json } } as const;
}

async function chatCall(pool: Pool, headers: object, model: string, number: number) {
  const response = await pool.request(chatRequest(headers, model, number, false));
  const { choices } = (await response.body.json()) as { choices?: Choice[] };
  if (choices?.[0]?.message?.content !== 'Done.') throw new Error(`call ${number} has no answer`);
}

async function chatStream(pool: Pool, headers: object, model: string, number: number) {
  const response = await pool.request(chatRequest(headers, model, number, true));
  let firstMs = 0;
  let text = '';
  for await (const chunk of response.body) {
    text += chunk;
    if (firstMs === 0 && text.includes('"Do')) firstMs = performance.now();
  }
  if (firstMs === 0 || !text.includes('[DONE]')) throw new Error(`stream ${number}: ${text}`);
  return { firstMs };
}

interface Choice {
  readonly message?: { readonly content?: string };
}

async function executeAndWait(
  pool: Pool,
  { path, headers }: { readonly path: string; readonly headers: Readonly<Record<string, string>> },
  number: number,
): Promise<void> {
  const body = JSON.stringify({ variables: { name: `call ${number}` } });
  const accepted = await pool.request({
    ...{ method: 'POST', path, body, headers: { ...headers, ...json } },
  });
  const { statusUrl } = (await accepted.body.json()) as { statusUrl: string };
  const ended = await pool.request({ method: 'GET', path: `${statusUrl}?wait=30`, headers });
  const { status } = (await ended.body.json()) as { status: string };
  if (status !== 'success') throw new Error(`call ${number} ended as ${status}`);
}

async function measureAll(
  paths: readonly Path[],
  schedule: { readonly perSecond: number; readonly seconds: number },
): Promise<Round> {
  const round = new Map<string, Samples>();
  for (const { name, call, stream } of paths) {
    const calls = await onSchedule(schedule, async (number, dueMs) => {
      await call(number);
      return performance.now() - dueMs;
    });
    const streams = stream
      ? await onSchedule(schedule, async (number, dueMs) => {
          const { firstMs } = await stream(number);
          return { first: firstMs - dueMs, end: performance.now() - dueMs };
        })
      : [];
    round.set(name, {
      call: calls,
      first: streams.map(({ first }) => first),
      stream: streams.map(({ end }) => end),
    });
  }
  return round;
}

function tableOf(title: string, paths: readonly Path[], rounds: readonly Round[]): Table {
  const added = (name: string, what: keyof Samples, share: number) => {
    const each = rounds.map((round) => {
      const samples = round.get(name)?.[what] ?? [];
      const direct = round.get(names.direct)?.[what] ?? [];
      return samples.length === 0 ? null : percentile(samples, share) - percentile(direct, 0.5);
    });
    const values = each.filter((value) => value !== null);
    return values.length === 0 ? '' : withRange(spread(values), milliseconds);
  };
  return {
    title,
    columns: ['added by', 'call p50', 'p99', 'first text p50', 'p99', 'stream p50', 'p99'],
    rows: paths.map(({ name }) => [
      name,
      ...(['call', 'first', 'stream'] as const).flatMap((what) =>
        [0.5, 0.99].map((share) => added(name, what, share)),
      ),
    ]),
  };
}
