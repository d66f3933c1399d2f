import { addWorkflow, step } from '../../harness/workflow-runs.ts';
import { sql } from '../../src/db/sql.ts';
import type { Benchmark } from '../benchmark.ts';
import { type OpenedCueline, openCueline } from '../contenders/cueline.ts';
import type { BenchEnvironment } from '../environment.ts';
import { figures } from '../goals.ts';
import { spread } from '../rounds.ts';
import { hundredths, type Table, whole, withRange } from '../table.ts';
import { cpuMicros, familyOf, readBytes } from '../usage.ts';

const [short, long] = [100, 1_000];
const concurrency = 10;
const itemChars = 500;
/** The server compiles hot code in these rounds. */
const warmUps = 2;

export const workflowList: Benchmark = {
  name: 'workflow-list',
  description:
    `The cost per item of a forEach step with ${concurrency} concurrent items, with a model that responds immediately: one ` +
    `list of ${long} items of ${itemChars} characters, compared with ${long / short} consecutive lists of ${short}. ` +
    'PostgreSQL counts statements and pages of 8 kB; bytes are what the server reads from its connections.',
  goal: 'an item of the long list costs at most 1.5 times an item of the short list',
  goalChecks: ([table]) => [
    {
      what: 'highest ratio',
      unit: '×',
      value: Math.max(...figures(table, 3)),
      most: 1.5,
    },
  ],
  byDefault: true,
  statements: true,
  async run(environment, { rounds, note }) {
    const opened = await openCueline(environment, { name: 'Cueline', roles: ['start'] });
    try {
      const path = await addList(opened);
      const samples: { short: Sample; long: Sample }[] = [];
      for (let round = -warmUps; round < rounds; round++) {
        note(`round ${round + warmUps + 1} of ${rounds + warmUps}`);
        const one = {
          short: await measure(environment, opened, path, short),
          long: await measure(environment, opened, path, long),
        };
        if (round >= 0) samples.push(one);
      }
      return [tableOf(samples)];
    } finally {
      await opened.close();
    }
  },
};

/** The cost per item. */
interface Sample {
  readonly micros: number;
  readonly cpuMicros: number;
  readonly statements: number;
  readonly pages: number;
  readonly bytes: number;
}

const measures: readonly [of: keyof Sample, name: string][] = [
  ['micros', 'µs'],
  ['cpuMicros', 'µs CPU, server and store'],
  ['statements', 'statements'],
  ['pages', 'pages of 8 kB that PostgreSQL accessed'],
  ['bytes', 'bytes that the server read'],
];

async function addList({ db, workspaceId, agent }: OpenedCueline): Promise<string> {
  const forEach = { list: '{{input.list}}', concurrency, max: long };
  const { workflowId } = await addWorkflow(
    { db, workspaceId },
    { steps: [step({ name: 'each', agent, forEach, variables: { name: '{{item}}' } })] },
  );
  return `/api/v1/workflows/${workflowId}`;
}

async function measure(
  environment: BenchEnvironment,
  opened: OpenedCueline,
  path: string,
  length: number,
): Promise<Sample> {
  await opened.reset();
  await sql`truncate workflow_runs cascade`.execute(opened.db);
  const list = Array.from({ length }, (_, n) => `${n} `.padEnd(itemChars, 'x'));
  const body = JSON.stringify({ input: { list } });
  const before = await usageOf(environment, opened);
  const startedMs = performance.now();
  for (let runs = 0; runs < long / length; runs++) await executeWorkflow(opened, path, body);
  const micros = (performance.now() - startedMs) * 1_000;
  const after = await usageOf(environment, opened);
  const each = (of: keyof typeof before) => (after[of] - before[of]) / long;
  return {
    micros: micros / long,
    cpuMicros: each('cpuMicros'),
    statements: each('statements'),
    pages: each('pages'),
    bytes: each('bytes'),
  };
}

/** Starts a workflow run and waits for its end. */
async function executeWorkflow(
  { target, key }: OpenedCueline,
  path: string,
  body: string,
): Promise<void> {
  const url = `http://${target.host}:${target.port}`;
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const started = await fetch(`${url}${path}/execute`, { method: 'POST', headers, body });
  const { statusUrl } = (await started.json()) as { statusUrl: string };
  for (;;) {
    const response = await fetch(new URL(`${statusUrl}?wait=60`, url), { headers });
    const { status } = (await response.json()) as { status: string };
    if (status === 'success') return;
    if (status !== 'processing') throw new Error(`a workflow run ended as ${status}`);
  }
}

async function usageOf(
  environment: BenchEnvironment,
  { servers, store, connection }: OpenedCueline,
) {
  const [row] = await environment.ask<{ calls: number; pages: number }>(`
    select coalesce(sum(s.calls), 0)::float8 as calls,
      coalesce(sum(s.shared_blks_hit + s.shared_blks_read), 0)::float8 as pages
    from pg_stat_statements s join pg_database d on d.oid = s.dbid
    where d.datname = '${connection.database}' and s.query ilike '%workflow_%'`);
  const pids = [...servers, ...(store === null ? [] : familyOf(store))];
  return {
    cpuMicros: pids.reduce((sum, pid) => sum + cpuMicros(pid), 0),
    statements: row?.calls ?? 0,
    pages: row?.pages ?? 0,
    bytes: servers.reduce((sum, pid) => sum + readBytes(pid), 0),
  };
}

function tableOf(samples: readonly { short: Sample; long: Sample }[]): Table {
  return {
    columns: ['per item', `list of ${short}`, `list of ${whole(long)}`, 'times'],
    rows: measures.map(([of, name]) => [
      name,
      withRange(spread(samples.map((one) => one.short[of])), formatOf(of)),
      withRange(spread(samples.map((one) => one.long[of])), formatOf(of)),
      withRange(spread(samples.map((one) => one.long[of] / one.short[of])), hundredths),
    ]),
    notes: ['Statements and pages: only statements on workflow tables.'],
  };
}

function formatOf(of: keyof Sample): (value: number) => string {
  return of === 'statements' ? hundredths : whole;
}
