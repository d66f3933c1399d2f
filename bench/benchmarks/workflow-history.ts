import { addAgent } from '../../harness/agents.ts';
import { addKey } from '../../harness/people.ts';
import { addWorkflow, step } from '../../harness/workflow-runs.ts';
import { fromId, uuid7 } from '../../src/core/id.ts';
import type { Db } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';
import type { Benchmark } from '../benchmark.ts';
import { openCueline } from '../contenders/cueline.ts';
import type { BenchEnvironment } from '../environment.ts';
import { figures } from '../goals.ts';
import { spread } from '../rounds.ts';
import { hundredths, type Table, whole } from '../table.ts';

/** Workflow runs of the short history, whose responses have the same size. */
const few = 1_000;
const callsEach = 40;
const warmUps = 10;
/** One workflow run in this many failed, and one came by webhook. */
const rare = 500;
/** The share of the oldest runs. They use version 1, the only version whose agents the restricted key sees. */
const oldShare = 0.02;

export const workflowHistory: Benchmark = {
  name: 'workflow-history',
  description:
    'Workflow run lists over HTTP, one call at a time, alternating with a workflow that has ' +
    `${whole(few)} runs. ms: the median of ${callsEach} calls.`,
  goal: 'each at most 2 times as long as with the short history',
  goalChecks: ([table]) => [
    { what: 'highest ratio', unit: '×', value: Math.max(...figures(table, 3)), most: 2 },
  ],
  byDefault: false,
  executions: 1_000_000,
  async run(environment, { executions: runs, note }) {
    const fixtures = [await openFixture(environment, few), await openFixture(environment, runs)];
    try {
      note(`inserted ${whole(runs)} workflow runs`);
      return [await timeCases(fixtures)];
    } finally {
      for (const fixture of fixtures) await fixture.close();
    }
  },
};

interface Fixture {
  readonly runs: number;
  time(one: Case): Promise<number>;
  close(): Promise<void>;
}

interface Case {
  readonly name: string;
  readonly path: (workflow: string) => string;
  /** Uses the key that sees only the oldest runs. */
  readonly restricted?: boolean;
}

const runsOf = (query: string) => (workflow: string) => `${workflow}/runs?${query}`;

const cases: readonly Case[] = [
  { name: 'workflows with activity', path: () => 'workflows?include=activity' },
  { name: 'runs, first page', path: runsOf('limit=20') },
  { name: 'runs, limit 100', path: runsOf('limit=100') },
  { name: 'runs, offset 900', path: runsOf('limit=20&offset=900') },
  { name: 'failed (rare)', path: runsOf('limit=20&status=failed') },
  { name: 'by webhook (rare)', path: runsOf('limit=20&trigger=webhook') },
  { name: 'failed by webhook (rarer)', path: runsOf('limit=20&status=failed&trigger=webhook') },
  { name: 'canceled (none)', path: runsOf('limit=20&status=canceled') },
  { name: 'restricted key: runs', path: runsOf('limit=20'), restricted: true },
  { name: 'restricted key: failed', path: runsOf('limit=20&status=failed'), restricted: true },
  {
    name: 'restricted key: by webhook',
    path: runsOf('limit=20&trigger=webhook'),
    restricted: true,
  },
  {
    name: 'restricted key: workflows',
    path: () => 'workflows?include=activity',
    restricted: true,
  },
];

async function openFixture(environment: BenchEnvironment, runs: number): Promise<Fixture> {
  const opened = await openCueline(environment, {
    name: 'Cueline',
    roles: ['api'],
    env: { CUELINE_LIST_PER_MINUTE: '1000000' },
  });
  const { db, workspaceId, agent, target, key } = opened;
  const [owner] = (await sql<{ id: string }>`select id from users limit 1`.execute(db)).rows;
  const userId = owner?.id ?? '';
  const later = await addAgent({ db, workspaceId, ownerId: userId }, { user: 'x' });
  const limits = { requestsPerMinute: null, requestsPerHour: null, requestsPerDay: null };
  const restrictedKey = await addKey(
    db,
    { workspaceId, userId },
    { agentIds: [agent.agentId], rateLimits: limits },
  );
  const workflow = await addWorkflow(
    { db, workspaceId },
    { steps: [step({ name: 'first', agent }), step({ name: 'second', agent, after: ['first'] })] },
  );
  const newVersion = uuid7(Date.now());
  await sql`
    insert into workflow_versions (id, workflow_id, workspace_id, number, label, definition, agent_ids)
    select ${newVersion}, workflow_id, workspace_id, 2, 'v2', definition,
      agent_ids || ${fromId('agent', later.agentId)}::uuid
    from workflow_versions where workflow_id = ${workflow.id}`.execute(db);
  await writeRuns(db, { workflowId: workflow.id, newVersion, runs });
  await sql`analyze workflow_runs, workflow_steps`.execute(db);
  await environment.ask('checkpoint');
  const url = `http://${target.host}:${target.port}/api/v1/`;
  return {
    runs,
    async time({ path, restricted }) {
      const headers = { Authorization: `Bearer ${restricted ? restrictedKey.key : key}` };
      const startedMs = performance.now();
      const response = await fetch(new URL(path(`workflows/${workflow.workflowId}`), url), {
        headers,
      });
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${response.status} ${text}`);
      return performance.now() - startedMs;
    },
    close: () => opened.close(),
  };
}

/** Workflow runs per statement, so that a statement stays below its timeout. */
const batchSize = 50_000;

/** One run with two steps per second until now, the oldest with the first version. */
async function writeRuns(
  db: Db,
  { workflowId, newVersion, runs }: { workflowId: string; newVersion: string; runs: number },
): Promise<void> {
  for (let from = 0; from < runs; from += batchSize) {
    const to = Math.min(runs, from + batchSize);
    const ids = sql`
      select (lpad(to_hex((extract(epoch from now()) * 1000)::bigint - (${runs}::bigint - n) * 1000), 12, '0')
          || '7000' || '8' || lpad(to_hex(n), 15, '0'))::uuid as id, n, n % ${rare} as of,
        now() - (${runs} - n) * interval '1 second' as at
      from generate_series(${from + 1}::bigint, ${to}::bigint) as n`;
    await sql`
      with runs as (
        insert into workflow_runs (id, workspace_id, workflow_id, workflow_version_id, trigger, status, executed_at,
          completed_at, deadline_at, input, output, error_code, error)
        select i.id, w.workspace_id, w.id,
          case when n <= ${runs * oldShare} then w.workflow_version_id else ${newVersion} end,
          case when i.of <= 1 then 'webhook' else 'api' end, case when i.of = 0 then 'failed' else 'success' end,
          at, at, at, '{"name":"the tides"}', case when i.of > 0 then '"done"'::json end,
          case when i.of = 0 then 'STEP_FAILED' end, case when i.of = 0 then 'Failed.' end
        from (${ids}) as i cross join workflows w
        where w.id = ${workflowId}
        returning id, executed_at)
      insert into workflow_steps (run_id, step, item, status, started_at, completed_at)
      select id, step, -1, 'success', executed_at, executed_at
      from runs cross join unnest(array['first', 'second']) as step`.execute(db);
  }
}

async function timeCases(fixtures: readonly Fixture[]): Promise<Table> {
  const calls = new Map<string, number[][]>(
    cases.map(({ name }) => [name, fixtures.map(() => [])]),
  );
  for (let round = -warmUps; round < callsEach; round++) {
    for (const one of cases) {
      for (const [at, fixture] of fixtures.entries()) {
        const ms = await fixture.time(one);
        if (round >= 0) calls.get(one.name)?.[at]?.push(ms);
      }
    }
  }
  const medians = [...calls].map(([name, of]) => ({
    name,
    ms: of.map((each) => spread(each).median),
  }));
  return {
    columns: ['', ...fixtures.map(({ runs }) => `${whole(runs)} runs: ms`), 'times'],
    rows: medians.map(({ name, ms }) => [
      name,
      ...ms.map(hundredths),
      hundredths((ms.at(-1) ?? 0) / (ms[0] ?? 1)),
    ]),
  };
}
