import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { scriptedModels } from '../../../harness/models.ts';
import { startService } from '../../../harness/service.ts';
import { addWorkflow, endOfRun, startRun, step, withText } from '../../../harness/workflow-runs.ts';
import type { ModelPort } from '../../../src/core/model/model-port.ts';
import { ModelFailure, noCost, noUsage } from '../../../src/core/model/model-port.ts';
import { sql } from '../../../src/db/sql.ts';

/** Responds with the prompt. A prompt that starts with `break` fails once `failing` resolves. */
const echo = scriptedModels();
let failing: Promise<unknown> = Promise.resolve();
const models: ModelPort = {
  call: (call, emit) => {
    if (!call.user.startsWith('break')) return echo.call(call, emit);
    const options = { retryable: false, usage: noUsage, cost: noCost };
    const failure = new ModelFailure('PROVIDER_ERROR', 'Broken as asked.', options);
    return failing.then(() => Promise.reject(failure));
  },
};
const service = await startService({ models });
after(service.close);
const { key, id: keyId } = await service.key();
const agent = await addAgent(service, { user: '{{text}}' });

async function runWorkflow(definition: Parameters<typeof addWorkflow>[1], input: object = {}) {
  const workflow = await addWorkflow(service, definition);
  const runId = await startRun(service, workflow, key, input);
  return { workflow, runId, ...(await endOfRun(service, workflow, runId)) };
}

test('a chain passes outputs on, and each step has a record', async () => {
  const { run, output, runId, steps } = await runWorkflow(
    {
      steps: [
        step({ name: 'first', agent, ...withText('{"kind": "{{input.kind}}", "n": 1.0}') }),
        step({
          name: 'second',
          agent,
          ...withText('{{steps.first.output.kind}} and {{steps.first.output.n}}'),
        }),
        step({ name: 'third', agent, ...withText('<{{steps.second.output}}>') }),
      ],
    },
    { kind: 'billing' },
  );
  assert.equal(run.status, 'success');
  assert.equal(output, '<billing and 1.0>');
  assert.deepEqual(
    [...steps.values()].map(({ status }) => status),
    ['success', 'success', 'success'],
  );
  const { rows } = await sql<{
    stepName: string;
    source: string;
    apiKeyId: string;
    executedBy: string;
  }>`
    select step_name, source::text as source, api_key_id, executed_by from executions
    where workflow_run_id = ${runId} order by step_name`.execute(service.db);
  const common = { source: 'workflow', apiKeyId: keyId, executedBy: service.ownerId };
  assert.deepEqual(rows, [
    { stepName: 'first', ...common },
    { stepName: 'second', ...common },
    { stepName: 'third', ...common },
  ]);
  const record = await service.call('GET', `${agent.path}/executions?status=success`, { key });
  assert.ok(record.body.executions.some((one: { stepName?: string }) => one.stepName === 'third'));
  const { rows: kept } = await sql`
    select from workflow_steps where run_id = ${runId} and (output is not null or variables is not null)`.execute(
    service.db,
  );
  assert.equal(kept.length, 0, 'outputs are gone once the run has ended');
});

test('parallel steps are joined, and the final ones form the output by name', async () => {
  const { output } = await runWorkflow({
    steps: [
      step({ name: 'a', agent, ...withText('A') }),
      step({ name: 'b', agent, ...withText('B') }),
      step({ name: 'join', agent, ...withText('{{steps.a.output}}+{{steps.b.output}}') }),
      step({ name: 'also', agent, after: ['a'], ...withText('C') }),
    ],
  });
  assert.deepEqual(output, { join: 'A+B', also: 'C' });
});

test('a false condition skips a step and the steps that depend only on it, and the output is null', async () => {
  const { steps, output } = await runWorkflow(
    {
      steps: [
        step({ name: 'no', agent, when: 'input.n > 1', ...withText('no') }),
        step({ name: 'yes', agent, when: 'input.n == 1', ...withText('yes') }),
        step({ name: 'afterNo', agent, after: ['no'], ...withText('never') }),
        step({ name: 'both', agent, ...withText('[{{steps.no.output}}{{steps.yes.output}}]') }),
      ],
    },
    { n: 1 },
  );
  assert.equal(steps.get('no')?.status, 'skipped');
  assert.equal(steps.get('afterNo')?.status, 'skipped');
  assert.deepEqual(output, { afterNo: null, both: '[yes]' });
  const began = [...steps].filter(([, { startedAt }]) => startedAt !== null);
  assert.deepEqual(began.map(([name]) => name).sort(), ['both', 'yes']);
  assert.ok([...steps.values()].every(({ completedAt }) => completedAt !== null));
});

test('a list is processed in order, and its outputs are parsed', async () => {
  const list = Array.from({ length: 12 }, (_, n) => ({ n }));
  const { output, steps } = await runWorkflow(
    {
      steps: [
        step({
          name: 'each',
          agent,
          forEach: { list: '{{input.list}}', concurrency: 3 },
          ...withText('{"twice": [{{item.n}}, {{index}}]}'),
        }),
        step({ name: 'sum', agent, ...withText('{{steps.each.output[11].twice[1]}}') }),
      ],
      output: { all: '{{steps.each.output}}', last: '{{steps.sum.output}}' },
    },
    { list },
  );
  assert.deepEqual(output, { all: list.map(({ n }) => ({ twice: [n, n] })), last: '11' });
  assert.equal(steps.get('each')?.itemsCount, 12);
});

test('items fail individually if the step continues, and fall back', async () => {
  const { output, steps, run } = await runWorkflow(
    {
      steps: [
        step({
          name: 'each',
          agent,
          forEach: { list: '{{input.list}}', concurrency: 2 },
          onFailure: 'continue',
          ...withText('{{item}}'),
        }),
        step({
          name: 'other',
          agent,
          forEach: { list: ['break a', 'fine'] },
          fallback: { agentId: agent.agentId, variables: { text: 'instead of {{item}}' } },
          ...withText('{{item}}'),
        }),
      ],
    },
    { list: ['one', 'break', 'two'] },
  );
  assert.equal(run.status, 'success');
  assert.deepEqual(output, { each: ['one', null, 'two'], other: ['instead of break a', 'fine'] });
  assert.equal(steps.get('each[1]')?.errorCode, 'PROVIDER_ERROR');
  assert.ok(steps.get('other[0]')?.failedExecutionId);
});

test('a value that is not a list, or too long, fails the step', async () => {
  for (const [list, code] of [
    ['no list', 'LIST_EXPECTED'],
    [[1, 2, 3], 'LIST_TOO_LONG'],
  ] as const) {
    const forEach = { list: '{{input.list}}', max: 2 };
    const { run, steps } = await runWorkflow(
      { steps: [step({ name: 'each', agent, forEach })] },
      { list },
    );
    assert.equal(run.errorCode, 'STEP_FAILED');
    assert.equal(run.failedStep, 'each');
    assert.equal(steps.get('each')?.errorCode, code);
  }
});

test('a failed step uses its fallback, a fixed output, or is skipped', async () => {
  const { output, run, steps } = await runWorkflow({
    steps: [
      step({
        name: 'agent',
        agent,
        ...withText('break'),
        fallback: { agentId: agent.agentId, ...withText('second') },
      }),
      step({
        name: 'given',
        agent,
        ...withText('break'),
        fallback: { output: { of: '{{steps.agent.output}}' } },
      }),
      step({ name: 'over', agent, ...withText('break'), onFailure: 'continue' }),
      step({ name: 'end', agent, ...withText('{{steps.given.output.of}}/{{steps.over.output}}') }),
    ],
  });
  assert.equal(run.status, 'success');
  assert.equal(output, 'second/');
  assert.equal(steps.get('over')?.status, 'failed');
  assert.ok(steps.get('agent')?.failedExecutionId);
});

test('a failed step fails the workflow run and cancels the other steps', async () => {
  const slow = await addAgent(service, { user: '{{text}}', model: 'cueline/other' });
  const heldCall = echo.hold();
  failing = heldCall.arrived;
  const workflow = await addWorkflow(service, {
    steps: [
      step({ name: 'slow', agent: slow, ...withText('slow') }),
      step({ name: 'broken', agent, when: 'true', after: [], ...withText('break') }),
      step({ name: 'never', agent, ...withText('{{steps.slow.output}}') }),
    ],
  });
  const runId = await startRun(service, workflow, key);
  const call = await heldCall.arrived;
  const { run, steps } = await endOfRun(service, workflow, runId);
  assert.equal(run.status, 'failed');
  assert.equal(run.failedStep, 'broken');
  assert.match(run.error ?? '', /^Step "broken" failed: /);
  assert.equal(steps.has('never'), false);
  await new Promise((resolve) => {
    if (call.signal.aborted) resolve(null);
    call.signal.addEventListener('abort', resolve);
  });
  const executionId = steps.get('slow')?.executionId;
  const { rows } = await sql<{ status: string }>`
    select status::text as status from executions where id = ${executionId}`.execute(service.db);
  assert.equal(rows[0]?.status, 'canceled');
});

test('a condition that cannot be evaluated fails the step', async () => {
  const { run, steps } = await runWorkflow({
    steps: [step({ name: 'a', agent, when: 'input.none.x == 1' })],
  });
  assert.equal(run.failedStep, 'a');
  assert.equal(steps.get('a')?.errorCode, 'CONDITION_FAILED');
});

test('a step with a permanent refusal fails with its code', async () => {
  const paused = await addAgent(service, { user: 'x', stage: 'Paused' });
  const needy = await addAgent(service, { user: '{{must}}' });
  const { steps, run } = await runWorkflow({
    steps: [
      step({ name: 'paused', agent: paused, onFailure: 'continue' }),
      step({
        name: 'needy',
        agent: needy,
        onFailure: 'continue',
        variables: { must: '{{input.none}}' },
      }),
      step({ name: 'saved', agent: needy, fallback: { output: 'saved' } }),
      step({
        name: 'last',
        agent,
        ...withText('{{steps.saved.output}}'),
        after: ['paused', 'needy'],
      }),
    ],
  });
  assert.equal(run.status, 'success');
  assert.equal(steps.get('paused')?.errorCode, 'AGENT_NOT_ACTIVE');
  assert.equal(steps.get('needy')?.errorCode, 'MISSING_VARIABLES');
});

test('values that are too long fail the step', async () => {
  const text = 'x'.repeat(500_000);
  const { steps } = await runWorkflow(
    {
      steps: [
        step({ name: 'a', agent, onFailure: 'continue', ...withText('{{input.text}}'.repeat(10)) }),
      ],
    },
    { text },
  );
  assert.equal(steps.get('a')?.errorCode, 'VALUES_TOO_LARGE');
});
