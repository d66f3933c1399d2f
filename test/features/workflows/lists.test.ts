import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { testPipelines } from '../../../harness/pipelines.ts';
import { countReadChars } from '../../../harness/read-chars.ts';
import { startService } from '../../../harness/service.ts';
import { coldProgress } from '../../../harness/workflow-engine.ts';
import { addWorkflow, startCall, step } from '../../../harness/workflow-runs.ts';
import { sql } from '../../../src/db/sql.ts';
import { readSteps } from '../../../src/engine/advance/workflow-progress-read.ts';
import { settleSteps } from '../../../src/features/workflows/verbs/settle-steps.ts';
import { createWorkflowStarter } from '../../../src/features/workflows/verbs/start-workflow.ts';

const service = await startService({ role: 'api' });
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service, { user: '{{text}}' });
const inner = testPipelines(service.database.connection);
after(() => inner.close());
const pipelines = countReadChars(inner);
/** A new process each time, with empty caches. */
const process = () => ({ ...coldProgress(), pipelines });

/** A workflow run over a list whose items end one by one: each is refused and falls back to a fixed output. */
async function listOf(length: number) {
  const workflow = await addWorkflow(service, {
    input: { required: ['list', 'context'], optional: [], defaults: {} },
    steps: [
      step({
        name: 'each',
        agent,
        forEach: { list: '{{input.list}}', concurrency: 3, max: 1_000 },
        variables: { text: '{{item.text}} {{input.context}}' },
        fallback: { output: { place: '{{index}}', text: '{{item.text}}' } },
      }),
    ],
  });
  const items = Array.from({ length }, (_, n) => ({ text: `${n} ${'x'.repeat(200)}` }));
  const started = await createWorkflowStarter(process()).start(
    startCall(workflow, key, { list: items, context: 'short' }),
  );
  assert.ok(started.kind === 'accepted');
  const { runId } = started;
  const end = (deps: ReturnType<typeof process>, item: number) =>
    settleSteps(deps, runId, [
      {
        runId,
        step: 'each',
        item,
        fallback: false,
        executionId: null,
        outcome: { kind: 'failed', code: 'AGENT_NOT_ACTIVE', error: 'No.' },
      },
    ]);
  const output = async () => {
    const { rows } = await sql<{ output: string | null }>`
      select output from workflow_runs where id = ${runId}`.execute(service.db);
    const text = rows[0]?.output ?? null;
    return text === null ? null : (JSON.parse(text) as unknown);
  };
  return { end, output, items };
}

async function readBy(work: () => Promise<void>): Promise<number> {
  const before = pipelines.chars();
  await work();
  return pipelines.chars() - before;
}

test('the reads at the end of an item do not grow with the list', async () => {
  const each: number[] = [];
  for (const length of [20, 800]) {
    const { end } = await listOf(length);
    const worker = process();
    const first = await readBy(() => end(worker, 0));
    assert.ok(first > length * 200, 'the list is read once');
    each.push(await readBy(() => end(worker, 1)));
  }
  const [short = 0, long = 0] = each;
  assert.ok(Math.abs(long - short) <= 10, `${short} and ${long} characters`);
});

test('a list advances in processes with empty caches, and its outputs are complete', async () => {
  const { end, output, items } = await listOf(12);
  const one = process();
  for (let item = 0; item < items.length; item++) {
    await end(item % 3 === 0 ? process() : one, item);
  }
  assert.deepEqual(
    await output(),
    items.map(({ text }, place) => ({ place, text })),
  );
});

/** Ends the last item of a list. Returns how much is read, and the states of the step and its workflow run. */
async function lastOf(length: number, output: string) {
  const list = Array.from({ length }, (_, n) => n);
  const workflow = await addWorkflow(service, {
    steps: [
      step({ name: 'each', agent, forEach: { list, concurrency: 1 }, onFailure: 'continue' }),
    ],
    output: '{{steps.each.output}}',
  });
  const started = await createWorkflowStarter(process()).start(startCall(workflow, key));
  assert.ok(started.kind === 'accepted');
  const { runId } = started;
  await sql`
    insert into workflow_steps (run_id, step, item, status, output)
    select ${runId}, 'each', n, 'success', to_json(${output}::text)
    from generate_series(1, ${length - 1}::int) as n`.execute(service.db);
  const chars = await readBy(() =>
    settleSteps(process(), runId, [
      {
        ...{ runId, step: 'each', item: 0, fallback: false, executionId: null },
        outcome: { kind: 'failed', code: 'AGENT_NOT_ACTIVE', error: 'No.' },
      },
    ]),
  );
  const { rows } = await sql<{ output: string | null; error: string | null }>`
    select r.output, s.error from workflow_runs r join workflow_steps s on s.run_id = r.id
    where r.id = ${runId} and s.step = 'each' and s.item = -1`.execute(service.db);
  return { chars, output: rows[0]?.output, error: rows[0]?.error };
}

test('a list with too long outputs is read hardly beyond the limit', async () => {
  const text = 'x'.repeat(1_000_000);
  const { chars, error } = await lastOf(40, text);
  assert.equal(error, 'The outputs of the items would be longer than 4194304 characters.');
  assert.ok(chars < 11_000_000, `${chars} characters`);
});

test('outputs are read a few at a time, and the raw texts of models are limited as well', async () => {
  const written = `${' '.repeat(1_000_000)}7`;
  const short = await lastOf(20, written);
  assert.deepEqual(JSON.parse(short.output ?? ''), [null, ...Array.from({ length: 19 }, () => 7)]);
  const { chars, error } = await lastOf(60, written);
  assert.equal(
    error,
    'The outputs of the items as written would be longer than 33554432 characters.',
  );
  assert.ok(chars < 45_000_000, `${chars} characters`);
});

test('outputs that exceed the limit of a step are read only up to it', async () => {
  const names = Array.from({ length: 12 }, (_, n) => `s${n}`);
  const firsts = (of: string[]) => of.map((name) => `{{steps.${name}.output[0]}}`).join(' ');
  const wide = (name: string, of: string[]) =>
    step({
      name,
      agent,
      after: ['go'],
      variables: { text: firsts(of) },
      fallback: { output: 'too long' },
    });
  const workflow = await addWorkflow(service, {
    steps: [
      ...names.map((name) => step({ name, agent })),
      step({ name: 'go', agent, fallback: { output: '' } }),
      wide('all', names),
      wide('some', names.slice(0, 6)),
      wide('others', names.slice(6)),
    ],
  });
  const started = await createWorkflowStarter(process()).start(startCall(workflow, key));
  assert.ok(started.kind === 'accepted');
  const { runId } = started;
  await sql`
    update workflow_steps set status = 'success', ready_at = null, variables = null,
      output = to_json('["' || step || '"' || repeat(',1', 500000) || ']')
    where run_id = ${runId} and step like 's%'`.execute(service.db);
  const chars = await readBy(() =>
    settleSteps(process(), runId, [
      {
        ...{ runId, step: 'go', item: -1, fallback: false, executionId: null },
        outcome: { kind: 'failed', code: 'AGENT_NOT_ACTIVE', error: 'No.' },
      },
    ]),
  );
  const { rows } = await sql<{ step: string; variables: string | null; output: string | null }>`
    select step, variables, output from workflow_steps
    where run_id = ${runId} and step in ('all', 'some', 'others') order by step`.execute(
    service.db,
  );
  const text = (of: string[]) => JSON.stringify({ text: of.join(' ') });
  assert.deepEqual(rows, [
    { step: 'all', variables: null, output: '"too long"' },
    { step: 'others', variables: text(names.slice(6)), output: null },
    { step: 'some', variables: text(names.slice(0, 6)), output: null },
  ]);
  assert.ok(chars < 13_000_000, `${chars} characters`);
});

test('complete lists are not counted again', async () => {
  const forEach = { list: [1, 2, 3], concurrency: 3 };
  const workflow = await addWorkflow(service, {
    steps: [step({ name: 'over', agent, forEach }), step({ name: 'open', agent, forEach })],
  });
  const started = await createWorkflowStarter(process()).start(startCall(workflow, key));
  assert.ok(started.kind === 'accepted');
  const { runId } = started;
  await sql`
    update workflow_steps set status = 'success', ready_at = null, variables = null, output = '[]'
    where run_id = ${runId} and step = 'over'`.execute(service.db);
  const { items } = await inner.use((send) => readSteps(send, [{ runId, step: 'open', item: 0 }]));
  assert.deepEqual(items, [{ runId, step: 'open', begun: 3, inProgress: 3 }]);
});
