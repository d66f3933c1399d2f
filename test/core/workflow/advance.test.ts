import assert from 'node:assert/strict';
import { test } from 'node:test';
import { advance } from '../../../src/core/workflow/advance.ts';
import {
  referredCharsMax,
  type StepDefinition,
  valuesCharsMax,
  type WorkflowDefinition,
} from '../../../src/core/workflow/definition.ts';
import type { RunState } from '../../../src/core/workflow/run-state.ts';
import { graphOf } from '../../../src/core/workflow/step-graph.ts';
import { fresh, type StepEvent, type StepState } from '../../../src/core/workflow/step-state.ts';
import { wholeOf } from './run-state-of.ts';

function step(name: string, more: Partial<StepDefinition> = {}): StepDefinition {
  const nothing = { after: [], when: null, forEach: null, fallback: null } as const;
  const rules = { onFailure: 'fail', onUnreadable: 'fail' } as const;
  return { name, agentId: 'agt_x', variables: {}, ...rules, ...nothing, ...more };
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

function advanced(
  definition: WorkflowDefinition,
  input: string,
  rows: readonly StepState[],
  events: readonly StepEvent[],
) {
  const result = advance(definition, wholeOf(input, rows), events);
  assert.ok(result.kind === 'advanced');
  return result;
}

test('an event of a stale execution changes nothing', () => {
  const before = [row('a', { executionId: 'e2' })];
  assert.deepEqual(advanced(workflow([step('a')]), '{}', before, [event('a', {})]), {
    kind: 'advanced',
    changed: [],
    end: null,
  });
});

test('a refusal of the original call does not fail the fallback', () => {
  const definition = workflow([step('a', { fallback: { agentId: 'agt_y', variables: {} } })]);
  const before = [row('a', { status: 'ready', variables: '{}', fallback: true })];
  const refused = event('a', { executionId: null, fallback: false, outcome: failure });
  assert.deepEqual(advanced(definition, '{}', before, [refused]).changed, []);
});

test('a fallback that fails is not called again', () => {
  const definition = workflow([step('a', { fallback: { agentId: 'agt_y', variables: {} } })]);
  const before = [row('a', { executionId: 'e1', fallback: true })];
  const { changed, end } = advanced(definition, '{}', before, [event('a', { outcome: failure })]);
  assert.deepEqual([changed[0]?.status, end?.status], ['failed', 'failed']);
});

test('steps that end in the same batch are all applied before the run fails', () => {
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

test('reads only the counts of a list until it is complete, then the outputs of its items', () => {
  const forEach = { list: [1, 2, 3], concurrency: 2, max: 3 };
  const definition = workflow([step('a', { forEach, variables: { x: '{{index}}' } })]);
  const values = { input: null, outputs: new Map(), lists: new Map() };
  const list = row('a', { itemsCount: 3 });
  const item = (index: number, more: Partial<StepState>) => ({ ...row('a', more), item: index });
  const of = (rows: StepState[], begun: number, inProgress: number): RunState => ({
    values,
    rows,
    items: new Map([['a', { begun, inProgress }]]),
    outputChars: new Map(),
  });
  const one = advance(definition, of([list, item(0, { executionId: 'e1' })], 2, 2), [
    event('a', { item: 0 }),
  ]);
  assert.ok(one.kind === 'advanced');
  assert.deepEqual(
    one.changed.map((changed) => [changed.item, changed.status]),
    [
      [0, 'success'],
      [2, 'ready'],
    ],
  );
  const last = [event('a', { item: 2 })];
  const rows = [list, item(2, { executionId: 'e1' })];
  const nothing = { input: false, outputs: [], lists: [], items: [{ step: 'a', from: 0 }] };
  assert.deepEqual(advance(definition, of(rows, 3, 1), last), {
    kind: 'missing',
    missing: nothing,
  });
  const read = [0, 1].map((index) => item(index, { status: 'success', output: `"${index}"` }));
  const all = advance(
    definition,
    of([...rows, ...read, item(2, { executionId: 'e1' })], 3, 1),
    last,
  );
  assert.deepEqual(all.kind === 'advanced' && all.end, {
    status: 'success',
    output: '[0,1,"done"]',
  });
});

test('an item with too long values requests the references of its fallback', () => {
  const definition = workflow([
    step('a'),
    step('b', {
      forEach: { list: [1, 2], concurrency: 2, max: 2 },
      variables: { x: '{{input.text}}'.repeat(2) },
      fallback: { output: '{{steps.a.output}} {{item}}' },
    }),
  ]);
  const whole = wholeOf(JSON.stringify({ text: 'x'.repeat(valuesCharsMax / 2) }), [
    row('a', { status: 'success', output: '"A"' }),
    row('b', { items: '[1,2]', itemsCount: 2 }),
  ]);
  const values = { ...whole.values, outputs: new Map(), lists: new Map() };
  assert.deepEqual(advance(definition, { ...whole, values }, []), {
    kind: 'missing',
    missing: { input: false, outputs: ['a'], lists: ['b'], items: [] },
  });
  const { end } = advanced(definition, whole.values.input?.json ?? '', whole.rows, []);
  assert.deepEqual(end, { status: 'success', output: '["A 1","A 2"]' });
});

test('a list begins as many items as may run at once', () => {
  const forEach = { list: [1, 2, 3], concurrency: 2, max: 3 };
  const { changed } = advanced(workflow([step('a', { forEach })]), '{}', [], []);
  const ready = changed.filter(({ status }) => status === 'ready');
  assert.deepEqual(
    ready.map(({ item }) => item),
    [0, 1],
  );
});

test('a list may have as many items as the maximum, and no more', () => {
  const codeWith = (max: number) => {
    const forEach = { list: [1, 2, 3], concurrency: 1, max };
    const { changed } = advanced(workflow([step('a', { forEach })]), '{}', [], []);
    return changed.find(({ item }) => item < 0)?.errorCode ?? null;
  };
  assert.deepEqual([codeWith(3), codeWith(2)], [null, 'LIST_TOO_LONG']);
});

test('requests no more items of a complete list once the known outputs exceed the limit', () => {
  const forEach = { list: [1, 2, 3], concurrency: 1, max: 3 };
  const definition = workflow([step('a', { forEach, onFailure: 'continue' })], 'done');
  const item = (index: number, more: Partial<StepState>) => ({ ...row('a', more), item: index });
  const after = (read: StepState[]) =>
    advance(
      definition,
      {
        values: { input: null, outputs: new Map(), lists: new Map() },
        rows: [row('a', { itemsCount: 3 }), item(2, { executionId: 'e1' }), ...read],
        items: new Map([['a', { begun: 3, inProgress: 1 }]]),
        outputChars: new Map(),
      },
      [event('a', { item: 2 })],
    );
  const output = JSON.stringify('x'.repeat(valuesCharsMax / 2));
  const read = [0, 1].map((index) => item(index, { status: 'success', output }));
  const missing = { input: false, outputs: [], lists: [], items: [{ step: 'a', from: 1 }] };
  assert.deepEqual(after(read.slice(0, 1)), { kind: 'missing', missing });
  const all = after(read);
  assert.ok(all.kind === 'advanced');
  assert.equal(all.changed.find((one) => one.item < 0)?.errorCode, 'VALUES_TOO_LARGE');
});

test('requests all references of the ready steps at once, and nothing else', () => {
  const definition = workflow([
    step('a'),
    step('b'),
    step('c', {
      when: 'input.yes && steps.a.output == "A"',
      variables: { x: '{{steps.b.output}}', y: '{{steps.d.output}}' },
    }),
    step('d'),
  ]);
  const succeeded = (name: string) => row(name, { status: 'success' });
  const state = {
    values: { input: null, outputs: new Map(), lists: new Map() },
    rows: [succeeded('a'), succeeded('b'), row('d', { status: 'failed' })],
    items: new Map(),
    outputChars: new Map(),
  };
  assert.deepEqual(advance(definition, state, []), {
    kind: 'missing',
    missing: { input: true, outputs: ['a', 'b'], lists: [], items: [] },
  });
});

test('a step whose references are too long fails without reading them, or uses its fallback', () => {
  const [a, b] = ['{{steps.a.output[0]}}', '{{steps.b.output.x}}'];
  const refers = (name: string, more: Partial<StepDefinition>) =>
    step(name, { onFailure: 'continue', ...more });
  const forEach = { list: a, concurrency: 1, max: 1 };
  const definition = workflow(
    [
      step('a'),
      step('b'),
      refers('alone', { variables: { x: a } }),
      refers('both', { variables: { x: [a, b] } }),
      refers('saved', { variables: { x: [a, b] }, fallback: { output: 'saved' } }),
      refers('list', { variables: { x: b }, forEach, fallback: { output: 'saved' } }),
      refers('condition', {
        when: 'steps.a.output == steps.b.output',
        fallback: { output: 'saved' },
      }),
      refers('failing', { variables: { x: a }, fallback: { output: [b, a] } }),
    ],
    [a, b],
  );
  const rows = ['a', 'b'].map((name) => row(name, { status: 'success' }));
  const chars = referredCharsMax / 2;
  const outputChars = new Map([
    ['a', chars],
    ['b', chars + 1],
  ]);
  const state = { ...wholeOf('{}', rows), outputChars };
  assert.deepEqual(advance(definition, state, []), {
    kind: 'missing',
    missing: { input: false, outputs: ['a'], lists: [], items: [] },
  });
  const failing = row('failing', { executionId: 'e1' });
  const alone = row('alone', { executionId: 'e2' });
  const all = advance(definition, { ...state, rows: [...rows, alone, failing] }, [
    event('failing', { outcome: failure }),
  ]);
  assert.ok(all.kind === 'advanced');
  assert.deepEqual(
    all.changed.map((one) => [one.step, one.status, one.errorCode, one.output]),
    [
      ['failing', 'failed', 'VALUES_TOO_LARGE', null],
      ['both', 'failed', 'VALUES_TOO_LARGE', null],
      ['saved', 'success', null, '"saved"'],
      ['list', 'failed', 'VALUES_TOO_LARGE', null],
      ['condition', 'failed', 'VALUES_TOO_LARGE', null],
    ],
  );
  const ended = advance(workflow([step('a'), step('b')], [a, b]), state, []);
  assert.ok(ended.kind === 'advanced' && ended.end?.status === 'failed');
  assert.equal(ended.end.errorCode, 'OUTPUT_TOO_LARGE');
});

test('a workflow run with a too long output fails', () => {
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

test('the graph omits cycles and the steps that wait for them', () => {
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

test('steps with long variables start a few at a time until all have started', () => {
  const text = 'x'.repeat(valuesCharsMax - 100);
  const names = ['a', 'b', 'c', 'd', 'e'];
  const definition = workflow(
    names.map((name) => step(name, { variables: { text: '{{input.text}}' } })),
    'done',
  );
  const input = JSON.stringify({ text });
  const rows = new Map<string, StepState>();
  let events: StepEvent[] = [];
  let ended = false;
  for (let round = 0; round < names.length && !ended; round++) {
    const { changed, end } = advanced(definition, input, [...rows.values()], events);
    for (const one of changed) rows.set(one.step, one);
    const ready = [...rows.values()].filter(({ status }) => status === 'ready');
    assert.ok(ready.length < names.length);
    for (const one of ready) {
      rows.set(one.step, { ...one, status: 'processing', variables: null, executionId: one.step });
    }
    events = ready.map((one) => event(one.step, { executionId: one.step }));
    ended = end !== null;
  }
  assert.ok(ended);
});
