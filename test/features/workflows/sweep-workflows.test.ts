import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { freshId } from '../../../harness/fresh-id.ts';
import { addWorkspace } from '../../../harness/people.ts';
import { testPipelines } from '../../../harness/pipelines.ts';
import { startService } from '../../../harness/service.ts';
import { addOpenRun, addWorkflow, step } from '../../../harness/workflow-runs.ts';
import { noLimits } from '../../../src/core/agent/limits.ts';
import { sql } from '../../../src/db/sql.ts';
import {
  type DueStep,
  findDueAgents,
  releaseSteps,
} from '../../../src/engine/advance/workflow-steps.ts';
import {
  endOverdueWorkflowRuns,
  type SweepDeps,
  sweepWorkflows,
} from '../../../src/features/workflows/verbs/sweep-workflows.ts';

/** An API process: only these tests sweep. */
const service = await startService({ role: 'api' });
const { db, workspaceId } = service;
const pipelines = testPipelines(service.database.connection);
after(() => pipelines.close());
after(service.close);
const agent = await addAgent(service, { user: 'x' });
const workflow = await addWorkflow(service, { steps: [step({ name: 'a', agent })] });

let taken: DueStep[] = [];
const room = { steps: 1_000, chars: 1_000_000_000 };
const deps = (more: Partial<SweepDeps> = {}): SweepDeps => ({
  db,
  pipelines,
  stepAdmission: { admit: (steps) => void taken.push(...steps), room: () => room },
  canceler: { cancel: async () => true, cancelAll: async (ids) => ids.map(() => true) },
  progressed: () => {},
  testingLimits: noLimits,
  ...more,
});

beforeEach(async () => {
  taken = [];
  await sql`delete from workflow_runs`.execute(db);
});

/** Due items of a workflow run, in order. */
async function addReady(agentId: string, count: number, chars = 2): Promise<string> {
  const runId = await addOpenRun(db, workflow);
  await sql`
    insert into workflow_steps (run_id, step, item, status, ready_at, variables, agent_id)
    select ${runId}, 'a', item, 'ready', clock_timestamp() - interval '1 minute' + item * interval '1 millisecond',
      repeat('x', ${chars}::int), ${agentId}
    from generate_series(0, ${count}::int - 1) as item`.execute(db);
  return runId;
}

async function take(): Promise<number> {
  taken = [];
  await sweepWorkflows(deps());
  return taken.length;
}

test('a sweep takes only as many steps of an agent as its rate limits allow', async () => {
  const limited = await addAgent(service, {
    user: 'x',
    rateLimits: { requestsPerHour: 50, requestsPerDay: 4 },
  });
  await addReady(limited.id, 300);
  await addReady(agent.id, 450);
  await sweepWorkflows(deps());
  const of = ({ id }: { id: string }) => taken.filter(({ agentId }) => agentId === id);
  assert.equal(of(agent).length, 450, 'others are all taken');
  assert.deepEqual(
    of(limited).map(({ item }) => item),
    [0, 1, 2, 3],
  );
  // Refused after all, because another caller has used up the window.
  await releaseSteps(db, of(limited));
  await sql`
    update limits set day = extract(epoch from clock_timestamp())::bigint / 86400 + 1, day_used = 4
    where subject = ${limited.id}`.execute(db);
  assert.equal(await take(), 0);
  await sql`update agents set requests_per_day = 6 where id = ${limited.id}`.execute(db);
  assert.equal(await take(), 2, 'a limit that was raised is seen');
  await sql`update limits set day = day - 3 where subject = ${limited.id}`.execute(db);
  assert.equal(await take(), 6, 'and a window that has turned');
});

for (const change of [
  'api_enabled = false',
  "api_enabled = false, stage = 'Paused'",
  "api_enabled = false, stage = 'Paused', archived_at = clock_timestamp()",
]) {
  test(`steps behind a full window are taken if their agent cannot be called: ${change}`, async () => {
    const limited = await addAgent(service, { user: 'x', rateLimits: { requestsPerDay: 1 } });
    await addReady(limited.id, 3);
    assert.equal(await take(), 1);
    await releaseSteps(db, taken);
    await sql`
      update limits set day = extract(epoch from clock_timestamp())::bigint / 86400 + 1, day_used = 1
      where subject = ${limited.id}`.execute(db);
    assert.equal(await take(), 0);
    await sql`update agents set ${sql.raw(change)} where id = ${limited.id}`.execute(db);
    assert.equal(await take(), 3);
  });
}

test('the caps of the Testing stage apply', async () => {
  const testing = await addAgent(service, { user: 'x', stage: 'Testing' });
  await addReady(testing.id, 9);
  await sweepWorkflows(deps({ testingLimits: { ...noLimits, requestsPerMinute: 3 } }));
  assert.equal(taken.length, 3);
});

test('steps of a deleted agent are taken, so that they fail', async () => {
  await addReady(freshId(), 2);
  assert.equal(await take(), 2);
});

test('steps with long variables are taken in small batches, within the room', async () => {
  await addReady(agent.id, 30, 1_000_000);
  const batches: number[] = [];
  const items = new Set<number>();
  const stepAdmission: SweepDeps['stepAdmission'] = {
    admit(steps) {
      batches.push(steps.length);
      for (const { item } of steps) items.add(item);
    },
    room: () => room,
  };
  await sweepWorkflows(deps({ stepAdmission }));
  // Distinct items: on a slow machine a reservation may expire, and a step is taken twice.
  assert.equal(items.size, 30);
  assert.ok(Math.max(...batches) <= 9, `${batches}`);
  await sql`update workflow_steps set ready_at = clock_timestamp()`.execute(db);
  let remaining = 5;
  const narrow: SweepDeps['stepAdmission'] = {
    admit: (steps) => {
      remaining -= steps.length;
    },
    room: () => ({ steps: remaining, chars: 1_000_000_000 }),
  };
  await sweepWorkflows(deps({ stepAdmission: narrow }));
  assert.equal(remaining, 0);
});

test('each agent gets a share of a batch, however many steps wait for another one', async () => {
  const [busy, other] = [
    await addAgent(service, { user: 'x' }),
    await addAgent(service, { user: 'x' }),
  ];
  await addReady(busy.id, 450);
  await addReady(other.id, 1);
  const turns: DueStep[][] = [];
  const stepAdmission: SweepDeps['stepAdmission'] = {
    admit: (steps) => void turns.push([...steps]),
    room: () => room,
  };
  await sweepWorkflows(deps({ stepAdmission }));
  assert.ok(turns[0]?.some(({ agentId }) => agentId === other.id));
  assert.equal(turns.flat().length, 451);
});

test('a workspace without room does not block others', async () => {
  await addReady(agent.id, 3);
  await addReady(freshId(), 2);
  const stepAdmission: SweepDeps['stepAdmission'] = {
    admit: (steps) => void taken.push(...steps),
    room: (of) => (of === workspaceId ? { steps: 0, chars: 0 } : room),
  };
  await sweepWorkflows(deps({ stepAdmission }));
  assert.equal(taken.length, 2);
});

test('an overdue workflow run that another process is ending is skipped, and the others are ended', async () => {
  const [held, free] = [await addReady(agent.id, 1), await addReady(agent.id, 1)];
  await sql`update workflow_runs set deadline_at = clock_timestamp()`.execute(db);
  const ended: string[] = [];
  const observing = deps({
    progressed: (progress) => void ended.push(...progress.ended.map(({ runId }) => runId)),
  });
  await db.transaction(async (other) => {
    await sql`select from workflow_runs where id = ${held} for update`.execute(other);
    await endOverdueWorkflowRuns(observing);
  });
  assert.deepEqual(ended, [free]);
  await endOverdueWorkflowRuns(observing);
  assert.deepEqual(ended, [free, held]);
});

test('a sweep respects the room of a workspace, however many agents it has', async () => {
  const agents = await Promise.all(Array.from({ length: 5 }, () => addAgent(service)));
  for (const { id } of agents) await addReady(id, 3);
  let steps = 4;
  const small: SweepDeps['stepAdmission'] = {
    admit(some) {
      taken.push(...some);
      steps -= some.length;
    },
    room: () => ({ steps, chars: 1_000_000 }),
  };
  await sweepWorkflows(deps({ stepAdmission: small }));
  assert.equal(taken.length, 4);
  steps = 1_000;
  await sweepWorkflows(deps({ stepAdmission: small }));
  assert.equal(taken.length, 15);
});

test('with too many agents each workspace gets a share, and agents take turns', async () => {
  const ours = await Promise.all([1, 2, 3].map(() => addAgent(service, { user: 'x' })));
  const theirs = await addAgent({ db, ...(await addWorkspace(db)) }, { user: 'x' });
  for (const { id } of [...ours, theirs]) await addReady(id, 1);
  const seen = new Set<string>();
  for (let round = 0; round < 1_000 && seen.size < 4; round++) {
    const found = (await findDueAgents(db, 2)).map(({ agentId }) => agentId);
    assert.equal(found.length, 2);
    assert.ok(found.includes(theirs.id));
    for (const id of found) seen.add(id);
  }
  assert.equal(seen.size, 4);
});
