import assert from 'node:assert/strict';
import { test } from 'node:test';
import { advance } from '../../src/core/advance.ts';
import { fresh, type StepEvent, type StepState } from '../../src/core/step-state.ts';
import {
  type StepDefinition,
  valuesCharsMax,
  type WorkflowDefinition,
} from '../../src/core/workflow.ts';
import { graphOf } from '../../src/core/workflow-graph.ts';

function step(name: string, more: Partial<StepDefinition> = {}): StepDefinition {
  const nothing = { after: [], when: null, forEach: null, fallback: null } as const;
  return { name, agentId: 'agt_x', variables: {}, onFailure: 'fail', ...nothing, ...more };
}

function workflow(steps: StepDefinition[], output: unknown = null): WorkflowDefinition {
  const input = { required: [], optional: [], defaults: {} };
  return { input, timeoutMs: 1_000, steps, output };
}

const row = (name: string, more: Partial<StepState>): StepState => ({
  ...fresh(name, -1),
  ...more,
});
const failure = { kind: 'failed', code: 'PROVIDER_ERROR', error: 'Broken.' } as const;
const event = (name: string, more: Partial<StepEvent>): StepEvent => ({
  step: name,
  item: -1,
  executionId: 'e1',
  outcome: { kind: 'success', text: 'done' },
  ...more,
});

function advanced(...given: Parameters<typeof advance>) {
  const result = advance(...given);
  assert.ok(result.kind === 'advanced');
  return result;
}

test('an event of another execution than the step has now changes nothing', () => {
  const before = [row('a', { executionId: 'e2' })];
  assert.deepEqual(advanced(workflow([step('a')]), '{}', before, [event('a', {})]), {
    kind: 'advanced',
    changed: [],
    end: null,
  });
});

test('a refusal of the call before the fallback does not count for the fallback', () => {
  const definition = workflow([step('a', { fallback: { agentId: 'agt_y', variables: {} } })]);
  const before = [row('a', { status: 'ready', variables: '{}', fallback: true })];
  const refused = event('a', { executionId: null, fallback: false, outcome: failure });
  assert.deepEqual(advanced(definition, '{}', before, [refused]).changed, []);
});

test('two steps that end together are both taken before the run fails', () => {
  const definition = workflow([step('a'), step('b'), step('c', { after: ['b'] })]);
  const before = [row('a', { executionId: 'e1' }), row('b', { executionId: 'e2' })];
  const events = [event('a', { outcome: failure }), event('b', { executionId: 'e2' })];
  const { changed, end } = advanced(definition, '{}', before, events);
  assert.deepEqual(
    changed.map(({ step: name, status }) => [name, status]),
    [
      ['a', 'failed'],
      ['b', 'success'],
    ],
  );
  assert.equal(end?.status, 'failed');
});

test('the outputs of items are asked for once the list is complete', () => {
  const forEach = { list: [1, 2], concurrency: 2, max: 2 };
  const definition = workflow([step('a', { forEach })]);
  const before = [
    row('a', { items: '[1,2]', itemsCount: 2 }),
    { ...row('a', { status: 'success', executionId: 'e0' }), item: 0 },
    { ...row('a', { executionId: 'e1' }), item: 1 },
  ];
  const last = event('a', { item: 1 });
  assert.equal(advance(definition, '{}', before, [last]).kind, 'unread');
  const whole = before.map((one) => (one.item === 0 ? { ...one, output: '"first"' } : one));
  const { end } = advanced(definition, '{}', whole, [last]);
  assert.deepEqual(end, { status: 'success', output: '["first","done"]' });
});

test('an output of the run that would be too long fails it', () => {
  const output = Array.from({ length: 5 }, () => '{{steps.a.output}}');
  const text = 'x'.repeat(valuesCharsMax / 4);
  const won = event('a', { outcome: { kind: 'success', text } });
  const { end } = advanced(
    workflow([step('a')], output),
    '{}',
    [row('a', { executionId: 'e1' })],
    [won],
  );
  assert.ok(end?.status === 'failed');
  assert.equal(end.errorCode, 'OUTPUT_TOO_LARGE');
});

test('the graph leaves out circles, and what waits for them', () => {
  const steps = [
    step('a', { after: ['b'] }),
    step('b', { variables: { x: '{{steps.c.output}}' } }),
    step('c', { when: 'steps.a.output == 1' }),
    step('d', { after: ['c'] }),
    step('e', { forEach: { list: '{{steps.f.output}}', concurrency: 1, max: 1 } }),
    step('f', { fallback: { output: '{{steps.g.output}}' } }),
    step('g'),
  ];
  const { ordered, last, waitsFor } = graphOf(workflow(steps));
  assert.deepEqual(
    ordered.map(({ name }) => name),
    ['g', 'f', 'e'],
  );
  assert.deepEqual(last, ['d', 'e']);
  assert.deepEqual(waitsFor.get('c'), ['a']);
});
