import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { addBudget, addPrice, windowsOf } from '../../../harness/budgets.ts';
import { type Service, startService } from '../../../harness/service.ts';
import {
  addWorkflow,
  endOfRun,
  type StepOptions,
  step,
  type TestWorkflow,
  type WorkflowRunResult,
  withText,
} from '../../../harness/workflow-runs.ts';
import { storedId } from '../../../src/core/id.ts';
import { ModelFailure, unknownCost } from '../../../src/core/model/model-port.ts';
import { sql } from '../../../src/db/sql.ts';
import { maintainWindows } from '../../../src/engine/budgets/fold-budgets.ts';

/** The most that a workflow run may cost: what its items and steps cost together, in two processes. */

const service = await startService();
const other = await startService({ sharedWith: service, models: service.models });
after(async () => {
  await other.close();
  await service.close();
});
const { db } = service;
const model = 'cueline/echo';
await addPrice(service, { model, perToken: 0.0001 });
const { key } = await service.key();
const boundUsd = 0.001;
const full = { cost: { usd: String(boundUsd), known: true } } as const;
/** Each call costs 0.001 US dollars at most. */
const agentFor = (config: object = {}) =>
  addAgent(service, { user: '{{text}}', model, config: { maxTokens: 10, ...config } });

async function start(workflow: TestWorkflow, maxCostUSD: number, process = service) {
  const path = `/api/v1/workflows/${workflow.workflowId}/execute`;
  const body = { input: {}, maxCostUSD };
  const { status, body: started } = await process.call('POST', path, { key, body });
  assert.equal(status, 202);
  return storedId('workflowRun', started.workflowRunId);
}

async function ran(options: StepOptions, maxCostUSD: number) {
  const workflow = await addWorkflow(service, { steps: [step(options)] });
  return endOfRun(service, workflow, await start(workflow, maxCostUSD));
}

const outcomes = ({ steps }: WorkflowRunResult, name: string) =>
  Map.groupBy(
    [...steps.values()].filter((one) => one.step === name && one.item >= 0),
    ({ status, errorCode }) => errorCode ?? status,
  );

test('of items that run in parallel, as many are called as the limit has room for', async () => {
  const agent = await agentFor();
  const items = { list: Array.from({ length: 25 }, (_, n) => n), concurrency: 10 };
  const workflow = await addWorkflow(service, {
    steps: [
      step({ name: 'a', agent, forEach: items, onFailure: 'continue', ...withText('{{item}}') }),
      step({ name: 'b', agent, forEach: items, onFailure: 'continue', ...withText('{{item}}') }),
    ],
  });
  const calls = service.models.calls.length;
  service.models.script(...Array(10).fill(full));
  const result = await endOfRun(service, workflow, await start(workflow, 0.01, other));
  const ended = ['a', 'b'].map((name) => outcomes(result, name));
  const count = (code: string) => ended.map((one) => one.get(code)?.length ?? 0);
  const sum = (counts: readonly number[]) => counts.reduce((total, one) => total + one, 0);
  assert.deepEqual([sum(count('success')), sum(count('COST_LIMIT'))], [10, 40]);
  assert.equal(service.models.calls.length, calls + 10);
  const [refused] = ended.flatMap((one) => one.get('COST_LIMIT') ?? []);
  assert.match(
    refused?.error ?? '',
    /limit is 0\.01 USD, 0\.01 USD are spent .* may cost up to 0\.001 USD/,
  );
  const [window] = await windowsOf(db, result.run.id);
  assert.deepEqual([window?.settled, window?.reserved, window?.calls], ['0.01', '0', 10]);
  const { rows } = await sql<{ n: number; reserved: string }>`
    select count(*) as n, trim_scale(sum(reserved_usd)) as reserved from executions
    where workflow_run_id = ${result.run.id}`.execute(db);
  assert.deepEqual(rows, [{ n: 10, reserved: '0.01' }]);
});

test('a step waits while only running calls are in its way', async () => {
  const agent = await agentFor();
  const held = service.models.hold();
  const workflow = await addWorkflow(service, {
    steps: [
      step({ name: 'a', agent, ...withText('x') }),
      step({ name: 'b', agent, ...withText('y') }),
    ],
  });
  const runId = await start(workflow, 0.0015);
  await held.arrived;
  // A step that waits is due again at once, until a sweep takes it.
  for (;;) {
    const { rows } = await sql`
      select from workflow_steps where run_id = ${runId} and status = 'ready' and ready_at <= clock_timestamp()`.execute(
      db,
    );
    if (rows.length > 0) break;
  }
  held.release({ cost: { usd: '0.0005', known: true } });
  service.models.script(full);
  const { run } = await endOfRun(service, workflow, runId);
  assert.equal(run.status, 'success');
  const [window] = await windowsOf(db, runId);
  assert.deepEqual([window?.settled, window?.reserved], ['0.0015', '0']);
});

test('a retry that finds no room is not sent, and the execution ends with the code', async () => {
  const agent = await agentFor();
  const calls = service.models.calls.length;
  service.models.script(new ModelFailure('PROVIDER_ERROR', 'Broken.', { cost: unknownCost }));
  const { run, steps } = await ran({ name: 'a', agent, ...withText('x') }, 0.0015);
  assert.equal(service.models.calls.length, calls + 1);
  assert.deepEqual(
    [run.status, run.errorCode, steps.get('a')?.errorCode],
    ['failed', 'STEP_FAILED', 'COST_LIMIT'],
  );
  const { rows } = await sql<{ errorCode: string; error: string }>`
    select error_code, error from executions where id = ${steps.get('a')?.executionId}`.execute(db);
  assert.equal(rows[0]?.errorCode, 'COST_LIMIT');
  assert.match(rows[0]?.error ?? '', /of the workflow run: .* 0\.001 USD are spent/);
});

test('a retry and a fallback model reserve before they are sent', async () => {
  const agent = await agentFor({ models: [model, 'priced/model'], maxAttempts: 2 });
  await addPrice(service, { model: 'priced/model', perToken: 0.0001 });
  const broken = new ModelFailure('PROVIDER_ERROR', 'Broken.', { cost: unknownCost });
  service.models.script(broken, broken, full);
  const { run } = await ran({ name: 'a', agent, ...withText('x') }, 0.003);
  assert.equal(run.status, 'success');
  const [window] = await windowsOf(db, run.id);
  assert.deepEqual(window, {
    ...{ bucket: '', reserved: '0', settled: '0.003', calls: 3, unknownCalls: 2 },
  });
});

test('the fallback of a step replaces it, and sees the same limit', async () => {
  const agent = await agentFor();
  const cheap = await agentFor({ maxTokens: 1 });
  const only = { name: 'a', agent, ...withText('x') };
  const fixed = await ran({ ...only, fallback: { output: 'X' } }, 0.0005);
  assert.deepEqual([fixed.run.status, fixed.output], ['success', 'X']);
  const called = { agentId: cheap.agentId, ...withText('y') };
  const replaced = await ran({ ...only, fallback: called }, 0.0005);
  assert.deepEqual([replaced.run.status, replaced.output], ['success', 'y']);
  const refused = await ran({ ...only, fallback: called }, 0.00005);
  assert.deepEqual(
    [refused.run.status, refused.steps.get('a')?.errorCode],
    ['failed', 'COST_LIMIT'],
  );
});

test('the limits of an agent, of the run and of budgets hold together', async () => {
  const agent = await agentFor({ maxCostUSD: 0.0015 });
  const budgetId = await addBudget(service, { limitUSD: 0.0025, agentIds: [agent.id] });
  const items = { list: [1, 2, 3, 4, 5], concurrency: 1 };
  const each = { name: 'a', agent, forEach: items, ...withText('x') } as const;
  service.models.script(full, full);
  const first = outcomes(await ran({ ...each, onFailure: 'continue' }, 0.01), 'a');
  assert.deepEqual([first.get('success')?.length, first.get('BUDGET_EXCEEDED')?.length], [2, 3]);
  await sql`update budgets set limit_usd = 1 where id = ${budgetId}`.execute(db);
  service.models.script(full);
  const second = outcomes(await ran({ ...each, onFailure: 'continue' }, 0.0015), 'a');
  assert.deepEqual([second.get('success')?.length, second.get('COST_LIMIT')?.length], [1, 4]);
  const [window] = await windowsOf(db, budgetId);
  assert.deepEqual([window?.settled, window?.reserved], ['0.003', '0']);
  service.models.script(new ModelFailure('PROVIDER_ERROR', 'Broken.', { cost: unknownCost }));
  const { steps } = await ran({ name: 'a', agent, ...withText('x') }, 0.01);
  const { rows } = await sql<{ error: string }>`
    select error from executions where id = ${steps.get('a')?.executionId}`.execute(db);
  assert.match(rows[0]?.error ?? '', /the limit is 0\.0015 USD/);
});

test('without a known price a step fails, and without maxTokens it is sent with the default', async () => {
  const unpriced = await addAgent(service, { user: '{{text}}', model: 'none/such' });
  const { steps } = await ran({ name: 'a', agent: unpriced, ...withText('x') }, 1);
  assert.equal(steps.get('a')?.errorCode, 'PRICE_UNKNOWN');
  const unbounded = await addAgent(service, { user: '{{text}}', model });
  const { steps: others } = await ran({ name: 'a', agent: unbounded, ...withText('x') }, 1);
  const { rows } = await sql<{ applied: string }>`
    select settings_applied as applied from executions where id = ${others.get('a')?.executionId}`.execute(
    db,
  );
  assert.deepEqual(JSON.parse(rows[0]?.applied ?? ''), { maxTokens: 4_096 });
  assert.equal(service.models.calls.at(-1)?.maxTokens, 4_096);
});

test('what a process accepted without the limit reserves before its first call, also beside budgets', async (t) => {
  const api = await startService({ role: 'api' });
  let worker: Service | undefined;
  t.after(async () => {
    await worker?.close();
    await api.close();
  });
  const agent = await addAgent(api, { user: '{{text}}', model, config: { maxTokens: 10 } });
  await addPrice(api, { model, perToken: 0.0001 });
  const { key: own } = await api.key();
  const workflow = await addWorkflow(api, {
    steps: [step({ name: 'a', agent, ...withText('x') })],
  });
  const path = `/api/v1/workflows/${workflow.workflowId}/execute`;
  const accepted = async () => {
    const { body: started } = await api.call('POST', path, { key: own, body: { input: {} } });
    const runId = storedId('workflowRun', started.workflowRunId);
    for (;;) {
      const { rows } = await sql<{ reservations: object[] | null }>`
        select reservations from execution_queue where workflow_run_id = ${runId}`.execute(api.db);
      if (rows[0]) return { runId, reserved: rows[0].reservations?.length ?? null };
    }
  };
  const withoutBudgets = await accepted();
  await addBudget(api, { limitUSD: 1, agentIds: [workflow.id] });
  const besideOthers = await accepted();
  const budgetId = await addBudget(api, { limitUSD: 1, agentIds: [agent.id] });
  const inBudget = await accepted();
  const all = [withoutBudgets, besideOthers, inBudget];
  assert.deepEqual(
    all.map(({ reserved }) => reserved),
    [null, 0, 1],
  );
  await sql`update workflow_runs set max_cost_usd = 0.0005`.execute(api.db);
  worker = await startService({ sharedWith: api, models: api.models });
  for (const { runId } of all) {
    const { steps } = await endOfRun(api, workflow, runId);
    assert.equal(steps.get('a')?.errorCode, 'COST_LIMIT');
  }
  assert.equal(api.models.calls.length, 0);
  const [window] = await windowsOf(api.db, budgetId);
  assert.deepEqual([window?.settled, window?.reserved], ['0', '0']);
});

test('the window goes an hour after the run has ended', async () => {
  const agent = await agentFor();
  const held = service.models.hold();
  const workflow = await addWorkflow(service, {
    steps: [step({ name: 'a', agent, ...withText('x') })],
  });
  const runId = await start(workflow, 1);
  await held.arrived;
  await maintainWindows(db);
  assert.equal((await windowsOf(db, runId)).length, 1);
  held.release(full);
  await endOfRun(service, workflow, runId);
  await maintainWindows(db);
  assert.equal((await windowsOf(db, runId)).length, 1);
  await sql`
    update workflow_runs set completed_at = completed_at - interval '1 hour' where id = ${runId}`.execute(
    db,
  );
  await maintainWindows(db);
  const { rows } = await sql`select from budget_settlements where budget_id = ${runId}`.execute(db);
  assert.deepEqual([rows.length, await windowsOf(db, runId)], [0, []]);
});
