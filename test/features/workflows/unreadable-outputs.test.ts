import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { scriptedModels } from '../../../harness/models.ts';
import { startService } from '../../../harness/service.ts';
import { addWorkflow, endOfRun, startRun, step } from '../../../harness/workflow-runs.ts';
import type { StepDefinition } from '../../../src/core/workflow/definition.ts';

const service = await startService({ models: scriptedModels() });
after(service.close);
const { key } = await service.key();
/** Responds with the prompt. */
const agent = await addAgent(service, { user: '{{text}}' });

type StepOptions = Partial<Omit<StepDefinition, 'name' | 'forEach'>>;
const says = (name: string, text: unknown, more: StepOptions = {}) =>
  step({ name, agent, variables: { text }, ...more });

async function execute(steps: readonly StepDefinition[], output: unknown = null, input = {}) {
  const workflow = await addWorkflow(service, { steps: [...steps], output });
  const runId = await startRun(service, workflow, key, input);
  const end = await endOfRun(service, workflow, runId);
  return { ...end, codes: codesOf(end.steps) };
}

function codesOf(steps: ReadonlyMap<string, { errorCode: string | null; status: string }>) {
  return Object.fromEntries([...steps].map(([name, one]) => [name, one.errorCode ?? one.status]));
}

const prose = 'Sorry, I cannot tell.';
const two = '{"kind":"a"} or {"kind":"b"}';
const wrapped =
  '<think>{"kind":"b"}?</think>Here it is: {"kind":"a","list":[1,2]} I hope it helps.';

test('the JSON in a text is read by references, conditions, lists and the output of the run', async () => {
  const { output, run } = await execute(
    [
      says('one', wrapped),
      says('value', '{{steps.one.output.kind}}', { when: "steps.one.output.kind == 'a'" }),
      says('has', 'yes', { when: 'has(steps.one.output.kind) && 1.0 in steps.one.output.list' }),
      says('text', 'whole', { when: "steps.one.output.startsWith('<think>')" }),
      step({
        name: 'each',
        agent,
        variables: { text: '{{item}}' },
        forEach: { list: '{{steps.one.output.list}}' },
      }),
      says('list', 'The list is [3, 4].'),
      step({
        name: 'of',
        agent,
        variables: { text: 'n{{item}}' },
        forEach: { list: '{{steps.list.output}}' },
      }),
    ],
    {
      kind: '{{steps.one.output.kind}}',
      value: '{{steps.value.output}}',
      has: '{{steps.has.output}}',
      text: '{{steps.text.output}}',
      each: '{{steps.each.output}}',
      of: '{{steps.of.output}}',
      one: '{{steps.one.output}}',
    },
  );
  assert.equal(run.error, null);
  assert.deepEqual(output, {
    kind: 'a',
    value: 'a',
    has: 'yes',
    text: 'whole',
    each: [1, 2],
    of: ['n3', 'n4'],
    one: wrapped,
  });
});

test('a step that refers into a text without exactly one fails', async () => {
  for (const text of [prose, two]) {
    for (const reads of [
      says('two', '{{steps.one.output.kind}}'),
      says('two', 'Kind: {{steps.one.output.kind}}'),
      says('two', 'x', { when: "steps.one.output.kind == 'a'" }),
      says('two', 'x', { when: "true || steps.one.output['kind'] == 'a'" }),
      says('two', 'x', { when: 'steps.one.output.exists(one, one == 1.0)' }),
      says('two', 'x', { when: "'a' in steps.one.output" }),
      step({ name: 'two', agent, forEach: { list: '{{steps.one.output.list}}' } }),
      step({ name: 'two', agent, forEach: { list: '{{steps.one.output}}' } }),
    ]) {
      const { run, codes, steps } = await execute(
        [says('one', text), reads],
        '{{steps.two.output}}',
      );
      assert.equal(run.errorCode, 'STEP_FAILED');
      assert.equal(run.failedStep, 'two');
      assert.deepEqual(codes, { one: 'success', two: 'OUTPUT_NOT_JSON' });
      const holds = text === two ? /holds several JSON objects/ : /holds no JSON object/;
      assert.match(steps.get('two')?.error ?? '', holds);
    }
  }
});

test('a footnote is not taken for the object that a reference needs', async () => {
  const { codes } = await execute([
    says('one', 'As said in [1].'),
    says('two', '{{steps.one.output.kind}}'),
  ]);
  assert.deepEqual(codes, { one: 'success', two: 'OUTPUT_NOT_JSON' });
});

test('the failure has a fallback, and the run may continue', async () => {
  const { output, codes, run } = await execute([
    says('one', prose),
    says('saved', '{{steps.one.output.kind}}', { fallback: { output: 'none' } }),
    says('agent', 'x', {
      when: "steps.one.output.kind == 'a'",
      fallback: { agentId: agent.agentId, variables: { text: 'second' } },
    }),
    says('over', '{{steps.one.output.kind}}', { onFailure: 'continue' }),
    says('twice', '{{steps.one.output.a}}', {
      onFailure: 'continue',
      fallback: { output: '{{steps.one.output.b}}' },
    }),
    says('whole', '{{steps.one.output}}'),
  ]);
  assert.equal(run.status, 'success');
  assert.deepEqual(output, {
    saved: 'none',
    agent: 'second',
    over: null,
    twice: null,
    whole: prose,
  });
  assert.equal(codes.over, 'OUTPUT_NOT_JSON');
  assert.equal(codes.twice, 'OUTPUT_NOT_JSON');
});

test('where only the output of the run refers into it, the step that produced the text fails', async () => {
  const kind = '{{steps.one.output.kind}}';
  const failed = await execute([says('one', prose), says('two', '{{steps.one.output}}')], kind);
  assert.equal(failed.run.failedStep, 'one');
  assert.deepEqual(failed.codes, { one: 'OUTPUT_NOT_JSON' });

  const fallback = { agentId: agent.agentId, variables: { text: '{"kind":"b"}' } };
  const saved = await execute([says('one', two, { fallback })], { kind });
  assert.deepEqual(saved.output, { kind: 'b' });
  assert.ok(saved.steps.get('one')?.failedExecutionId);

  const useless = await execute([says('one', two, { fallback: { output: prose } })], { kind });
  assert.deepEqual(useless.codes, { one: 'OUTPUT_NOT_JSON' });

  const continued = await execute([says('one', prose, { onFailure: 'continue' })], { kind });
  assert.equal(continued.run.status, 'success');
  assert.deepEqual(continued.output, { kind: null });
  assert.deepEqual(continued.codes, { one: 'OUTPUT_NOT_JSON' });
});

test('the output of the run does not become null because the step that needed the value went on', async () => {
  const kind = { kind: '{{steps.one.output.kind}}' };
  const steps = [
    says('skipped', '{{steps.one.output.kind}}', { when: 'false' }),
    says('over', '{{steps.one.output.kind}}', { onFailure: 'continue' }),
  ];
  const failed = await execute([says('one', prose), ...steps], kind);
  assert.equal(failed.run.failedStep, 'one');
  assert.deepEqual(failed.codes, {
    one: 'OUTPUT_NOT_JSON',
    skipped: 'skipped',
    over: 'OUTPUT_NOT_JSON',
  });
  const continued = await execute([says('one', prose, { onFailure: 'continue' }), ...steps], kind);
  assert.deepEqual(continued.output, { kind: null });
  assert.equal(continued.codes.one, 'OUTPUT_NOT_JSON');
});

test('a step may let references into its text be null', async () => {
  const { output, run } = await execute(
    [
      says('one', prose, { onUnreadable: 'null' }),
      says('value', '{{steps.one.output.kind}}!'),
      says('not', 'x', { when: "steps.one.output.kind == 'a' || has(steps.one.output.a.b)" }),
      says('is', 'x', { when: 'steps.one.output.kind == null && steps.one.output.a.b[0] == null' }),
      says('or', 'x', { when: "steps.one.output.?kind.orValue('b') == 'b'" }),
      says('text', 'x', { when: "steps.one.output.contains('Sorry')" }),
    ],
    [
      '{{steps.one.output.kind}}',
      '{{steps.value.output}}',
      '{{steps.not.output}}',
      '{{steps.is.output}}',
      '{{steps.or.output}}',
      '{{steps.text.output}}',
    ],
  );
  assert.equal(run.error, null);
  assert.deepEqual(output, [null, '!', null, 'x', 'x', 'x']);
});

test('each text in the outputs of a list is read as well', async () => {
  const each = (list: readonly string[]) =>
    step({ name: 'each', agent, variables: { text: '{{item}}' }, forEach: { list } });
  const kinds = step({
    name: 'kinds',
    agent,
    variables: { text: '{{item.kind}}' },
    forEach: { list: '{{steps.each.output}}' },
    onFailure: 'continue',
  });
  const read = await execute(
    [each(['{"kind":"a"}', 'It is {"kind":"b"}.', 'About [1].']), kinds],
    ['{{steps.each.output[1].kind}}', '{{steps.kinds.output}}', '{{steps.each.output}}'],
  );
  const texts = [{ kind: 'a' }, 'It is {"kind":"b"}.', 'About [1].'];
  assert.deepEqual(read.output, ['b', ['a', 'b', null], texts]);
  assert.equal(read.codes['kinds[2]'], 'OUTPUT_NOT_JSON');

  const failed = await execute([each(['x'])], '{{steps.each.output[0].kind}}');
  assert.deepEqual(failed.codes, { each: 'OUTPUT_NOT_JSON', 'each[0]': 'success' });
  assert.equal(failed.run.failedStep, 'each');
});
