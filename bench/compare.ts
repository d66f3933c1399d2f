import { join } from 'node:path';
import { Pool } from 'undici';
import { openCheckout } from './contenders/checkout.ts';
import type { Opened } from './contenders/contender.ts';
import { type BenchEnvironment, openEnvironment } from './environment.ts';
import { onSchedule } from './load/schedule.ts';
import { acceptFor, cpuOf, finishAll, type Sample } from './measure.ts';
import { inAlternation, type Series, type Spread, spread } from './rounds.ts';
import { serversDir, startServer } from './server.ts';
import { checkOut } from './source-state.ts';
import { hundredths, markdown, type Table, whole, withRange } from './table.ts';

/**
 * Whether this state of the source is slower than another one: `npm run bench -- compare --base REV accept`.
 *
 * Three servers alternate: the base, this state, and the base again. The second base shows what chance does (A/A). A
 * difference counts if its median lies outside all rounds of that pair.
 */

export interface CompareOptions {
  readonly base: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly requests: number;
  readonly connections: number;
}

interface Comparison {
  readonly role: 'start' | 'api';
  readonly description: string;
  measure(environment: BenchEnvironment, opened: Opened, options: CompareOptions): Promise<Sample>;
}

const callsPerSecond = 100;
/** The model takes this long, so that every client already waits when its execution ends. */
const answerMs = 50;
const slowModel = 'ollama/slow';

const comparisons: Readonly<Record<string, Comparison>> = {
  accept: {
    role: 'api',
    description: '202s per second in a closed loop; nothing is executed',
    measure: acceptFor,
  },
  'end-to-end': {
    role: 'start',
    description: 'ended executions per second with a model that responds immediately',
    measure: finishAll,
  },
  latency: {
    role: 'start',
    description: `${callsPerSecond} calls per second on a schedule, each waits for its end; the model takes ${answerMs} ms`,
    measure: (_environment, opened, { seconds }) => executeOnSchedule(opened, seconds),
  },
};

export const comparable = Object.keys(comparisons);

export async function compare(names: readonly string[], options: CompareOptions): Promise<string> {
  const base = await checkOut(options.base);
  try {
    const tables: Table[] = [];
    for (const name of names) {
      const comparison = comparisons[name];
      if (comparison) tables.push(await compareStates(name, comparison, base.folder, options));
    }
    return tables.map(markdown).join('\n\n');
  } finally {
    await base.remove();
  }
}

/** In a fresh environment, so that comparisons do not affect each other. */
async function compareStates(
  name: string,
  { role, description, measure }: Comparison,
  base: string,
  options: CompareOptions,
): Promise<Table> {
  const environment = await openEnvironment({ statements: false });
  const provider = await startServer({
    command: [join(serversDir, 'slow-model.ts')],
    env: { AFTER_MS: String(answerMs) },
    logFile: join(environment.directory, 'slow-model.log'),
  });
  const model = name === 'latency' ? slowModel : 'cueline/echo';
  const env = { OLLAMA_BASE_URL: `${provider.url}v1` };
  const entry = (contender: string, folder: string) => ({
    contender: {
      ...{ name: contender, durability: '' },
      open: () => openCheckout(environment, { folder, role, model, env }),
    },
    measure: (opened: Opened) => measure(environment, opened, options),
  });
  try {
    const series = await inAlternation(
      environment,
      [
        entry(options.base, base),
        entry('this state', join(import.meta.dirname, '..')),
        entry(`${options.base} again`, base),
      ],
      options.rounds,
    );
    return tableOf(`${name}: ${description}`, series);
  } finally {
    await provider.stop();
    await environment.close();
  }
}

async function executeOnSchedule(opened: Opened, seconds: number): Promise<Sample> {
  await opened.reset();
  const { host, port, path, headers, body } = opened.target;
  const pool = new Pool(`http://${host}:${port}`, { connections: 256, pipelining: 1 });
  const before = cpuOf(opened);
  const schedule = { perSecond: callsPerSecond, seconds };
  const samples = await onSchedule(schedule, async (_number, dueMs) => {
    const accepted = await pool.request({
      ...{ method: 'POST', path, body },
      headers: { ...headers, 'content-type': 'application/json' },
    });
    const { statusUrl } = (await accepted.body.json()) as Record<string, string>;
    const ended = await pool.request({ method: 'GET', path: `${statusUrl}?wait=30`, headers });
    const { status } = (await ended.body.json()) as Record<string, string>;
    if (status !== 'success') throw new Error(`an execution ended as ${status}`);
    return performance.now() - dueMs;
  });
  const after = cpuOf(opened);
  await pool.close();
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
  return {
    ...{ perSecond: samples.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99) },
    cpu: {
      server: (after.server - before.server) / samples.length,
      store: (after.store - before.store) / samples.length,
      generator: 0,
    },
  };
}

const figures: readonly (readonly [string, (sample: Sample) => number])[] = [
  ['server, µs of CPU', ({ cpu }) => cpu.server],
  ['PostgreSQL, µs of CPU', ({ cpu }) => cpu.store],
  ['both', ({ cpu }) => cpu.server + cpu.store],
  ['p50 in ms', ({ p50Ms }) => p50Ms],
  ['per second', ({ perSecond }) => perSecond],
];

function tableOf(title: string, [base, current, again]: readonly Series[]): Table {
  if (!base || !current || !again) throw new Error('a state was not measured');
  const rows = figures.map(([name, of]) => {
    const change = ratio(current, base, of);
    const chance = ratio(again, base, of);
    return [
      name,
      withRange(spread(base.samples.map(of)), whole),
      withRange(spread(current.samples.map(of)), whole),
      withRange(change, hundredths),
      withRange(chance, hundredths),
      verdict(change, chance),
    ];
  });
  const columns = ['per execution', 'base', 'this state', 'ratio', 'A/A', 'difference'];
  return { title, columns, rows };
}

/** Within a round, which ran under the same conditions. */
function ratio(series: Series, base: Series, of: (sample: Sample) => number): Spread {
  return spread(
    series.samples.map((sample, at) => {
      const other = base.samples[at];
      return other ? of(sample) / of(other) : Number.NaN;
    }),
  );
}

function verdict({ median }: Spread, { min, max }: Spread): string {
  if (median >= min && median <= max) return 'within the A/A spread';
  return median > max ? 'more' : 'less';
}
