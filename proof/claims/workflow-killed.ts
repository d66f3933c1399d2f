import { setTimeout as wait } from 'node:timers/promises';
import { addPrice } from '../../harness/budgets.ts';
import { openStarter } from '../../harness/workflow-engine.ts';
import { addWorkflow, startCall, step, type TestWorkflow } from '../../harness/workflow-runs.ts';
import type { Db } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';
import type { StartCall } from '../../src/features/workflows/verbs/start-call.ts';
import { checkSettled, watchBudgets } from '../budget-checks.ts';
import { allEnded, checkTables, endedWithinMs, watchInvariants } from '../checker.ts';
import type { Claim, Found } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { createProcessPool, type Member, type ProcessPool } from '../process-pool.ts';

/**
 * A round kills one of three workers with `kill -9`, or pauses it until another worker has taken over, at a random moment
 * during workflow runs. The process that starts the runs executes none of their steps. Every other run has a limit of cost, with
 * more room than it needs.
 */

const workers = 3;
const runsPerRound = 12;
const maxTokens = 10;
/** Of a call of a model. Input is free. */
const boundUsd = 0.001;
const limited = { maxCostUSD: 1 };

export const workflowKilled: Claim = {
  name: 'workflow-killed',
  description:
    'A workflow run continues after any worker is killed or paused, and executes each of its steps once',
  rounds: { test: 2, short: 40, full: 400 },
  roundsPerEnvironment: 40,
  faults: [
    {
      name: 'orphaned-ready-steps',
      description: 'only the process that made a step ready starts it',
      file: 'engine/advance/workflow-steps.ts',
      find: "where agent_id = a.agent_id and status = 'ready' and",
      replace: "where agent_id = a.agent_id and status = 'ready' and false and",
    },
    {
      name: 'missing-progress',
      description: 'the end of an execution does not advance its workflow run',
      file: 'engine/complete/completion.ts',
      find: 'const progressed = progress ? writeProgress(send, progress) : [];',
      replace:
        'const progressed = progress && ended.length === 0 ? writeProgress(send, progress) : [];',
    },
    {
      name: 'repeated-steps',
      description: 'a step that was called stays ready',
      file: 'engine/advance/workflow-steps.ts',
      find: "set status = 'processing', ready_at = null, variables = null,\n    execution_id = c.execution_id,",
      replace: 'set ready_at = clock_timestamp(), execution_id = c.execution_id,',
    },
  ],
  prove,
};

async function prove(environment: ProofEnvironment, rounds: number): Promise<Found> {
  const { db, leaseMs, random } = environment;
  const pool = createProcessPool(environment);
  await Promise.all(Array.from({ length: workers }, () => pool.start('worker')));
  const shapes = await workflowsOf(environment);
  const { key } = await environment.key();
  const { starter, close } = openStarter(environment.connection);
  const watch = watchInvariants(db, 200);
  const budgets = watchBudgets(db);
  const expected = new Map<string, Shape>();
  for (let left = rounds; left > 0; left--) {
    for (let at = 0; at < runsPerRound; at++) {
      const shape = shapes[at % shapes.length];
      if (!shape) continue;
      const started = await starter.start(callOf(shape, key, expected.size));
      if (started.kind === 'accepted') expected.set(started.runId, shape);
    }
    await wait(leaseMs * (0.5 + random()));
    while (pool.up('worker').length < 2 && pool.failed().length === 0) await wait(10);
    const up = pool.up('worker');
    const victim = up[Math.floor(random() * up.length)];
    if (victim)
      await (left % 3 !== 1
        ? kill(pool, victim)
        : pause(pool, victim, leaseMs * (1 + 2 * random())));
  }
  await pool.settled();
  const runsDone = await runsEnded(db);
  const ended = runsDone && (await allEnded(db));
  await close();
  const executions = await sql<{ id: string }>`select id from executions`.execute(db);
  return {
    counts: {
      'kills and pauses': rounds,
      'workflow runs': expected.size,
      executions: executions.rows.length,
    },
    violations: [
      ...(await checkRuns(db, expected)),
      ...(runsDone ? [] : ['not all workflow runs ended']),
      ...(ended ? [] : ['not all executions ended']),
      ...(await watch.stop()),
      ...(await budgets.stop()),
      ...(ended ? await checkSettled(db, boundUsd) : []),
      ...(runsDone ? await checkTables(db, { accepted: executions.rows.map(({ id }) => id) }) : []),
      ...pool.failed(),
    ],
  };
}

function callOf({ workflow }: Shape, key: string, n: number): StartCall {
  return startCall(workflow, key, { n }, null, n % 2 === 0 ? limited : {});
}

async function kill(pool: ProcessPool, victim: Member): Promise<void> {
  await pool.kill(victim);
  pool.fill('worker', workers);
}

async function pause(pool: ProcessPool, victim: Member, forMs: number): Promise<void> {
  pool.stop(victim);
  await wait(forMs);
  pool.resume(victim);
}

interface Shape {
  readonly workflow: TestWorkflow;
  /** The number of executions of each step. */
  readonly calls: Readonly<Record<string, number>>;
  readonly output: (n: number) => unknown;
}

/** A chain, a diamond around a list, and steps that fail and fall back. The models echo their prompt. */
async function workflowsOf(environment: ProofEnvironment): Promise<Shape[]> {
  const agentOf = async (name: string, config: object = {}) => {
    const model = `ollama/${name}`;
    await addPrice(environment, { model, perToken: boundUsd / maxTokens });
    return environment.agent({ user: '{{text}}', model, config: { maxTokens, ...config } });
  };
  const agent = await agentOf('after-100');
  const few = await agentOf('after-50', { maxConcurrency: 4 });
  const broken = await agentOf('bad-request');
  const text = (value: unknown) => ({ variables: { text: value } });
  const of = { db: environment.db, workspaceId: environment.workspaceId };
  const [chain, list, fallback] = await Promise.all([
    addWorkflow(of, {
      steps: [
        step({ name: 'a', agent, ...text('{"n": {{input.n}}}') }),
        step({ name: 'b', agent: few, ...text('b{{steps.a.output.n}}') }),
        step({ name: 'c', agent, ...text('c{{steps.b.output}}') }),
      ],
    }),
    addWorkflow(of, {
      steps: [
        step({ name: 'split', agent, ...text('[{{input.n}}, 1, 2, 3, 4]') }),
        step({
          name: 'each',
          agent: few,
          forEach: { list: '{{steps.split.output}}', concurrency: 2 },
          ...text('i{{item}}'),
        }),
        step({ name: 'beside', agent, ...text('{{steps.split.output[1]}}') }),
      ],
    }),
    addWorkflow(of, {
      steps: [
        step({
          name: 'tried',
          agent: broken,
          fallback: { agentId: agent.agentId, ...text('f{{input.n}}') },
          ...text('x'),
        }),
        step({ name: 'passed', agent: broken, onFailure: 'continue', ...text('x') }),
        step({ name: 'end', agent, after: ['passed'], ...text('{{steps.tried.output}}') }),
      ],
    }),
  ]);
  return [
    { workflow: chain, calls: { a: 1, b: 1, c: 1 }, output: (n) => `cb${n}` },
    {
      workflow: list,
      calls: { split: 1, each: 5, beside: 1 },
      output: (n) => ({ each: [`i${n}`, 'i1', 'i2', 'i3', 'i4'], beside: '1' }),
    },
    { workflow: fallback, calls: { tried: 2, passed: 1, end: 1 }, output: (n) => `f${n}` },
  ];
}

/** False if some runs have not ended after the timeout. */
async function runsEnded(db: Db): Promise<boolean> {
  const until = performance.now() + endedWithinMs;
  for (;;) {
    const { rows } =
      await sql`select from workflow_runs where status = 'processing' limit 1`.execute(db);
    if (rows.length === 0) return true;
    if (performance.now() > until) return false;
    await wait(50);
  }
}

/** Every run has succeeded with the expected output and the expected executions per step. */
async function checkRuns(db: Db, expected: ReadonlyMap<string, Shape>): Promise<string[]> {
  const { rows } = await sql<{
    id: string;
    status: string;
    input: string;
    output: string | null;
    error: string | null;
    calls: Record<string, number>;
  }>`
    select r.id, r.status, r.input, r.output, r.error, coalesce((
      select jsonb_object_agg(step_name, times) from (
        select step_name, count(*) as times from executions where workflow_run_id = r.id group by step_name) as c),
      '{}') as calls
    from workflow_runs r`.execute(db);
  const violations = rows.flatMap(({ id, status, input, output, error, calls }) => {
    const shape = expected.get(id);
    if (!shape) return [`unknown run ${id}`];
    // Also checked for runs that failed or never ended.
    const found = repeatedSteps(shape.calls, calls).map((one) => `run ${id}: ${one}`);
    if (status !== 'success') return [...found, `run ${id} is ${status}: ${error}`];
    const { n } = JSON.parse(input) as { n: number };
    const wanted = JSON.stringify(shape.output(n));
    if (output !== wanted) found.push(`run ${id} has output ${output} instead of ${wanted}`);
    if (found.length === 0 && sorted(calls) !== sorted(shape.calls))
      found.push(`run ${id} executed ${sorted(calls)}`);
    return found;
  });
  if (rows.length !== expected.size)
    violations.push(`${expected.size} runs were started, ${rows.length} exist`);
  return violations;
}

function repeatedSteps(expected: Shape['calls'], calls: Shape['calls']): string[] {
  return Object.entries(calls)
    .filter(([name, times]) => times > (expected[name] ?? 0))
    .map(([name, times]) => `step ${name}: ${times} executions instead of ${expected[name] ?? 0}`);
}

function sorted(calls: Readonly<Record<string, number>>): string {
  return JSON.stringify(Object.entries(calls).sort(([a], [b]) => (a < b ? -1 : 1)));
}
