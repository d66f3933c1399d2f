import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  agentsOf,
  checkWorkflow,
  type StepAgent,
} from '../../../src/features/workflows/rules/check-definition.ts';
import type {
  DefinitionDraft,
  StepDraft,
} from '../../../src/features/workflows/rules/fill-definition.ts';

const agents = new Map<string, StepAgent>([
  ['agt_a', { name: 'A', inactive: null, requiredVariables: [] }],
  ['agt_topic', { name: 'Topic', inactive: null, requiredVariables: ['topic', 'tone'] }],
  ['agt_draft', { name: 'D', inactive: 'is in stage Draft, not Deployed', requiredVariables: [] }],
]);

function problemsOf(draft: DefinitionDraft): string[] {
  return checkWorkflow(draft, agents).problems.map(
    ({ step, path, message }) => `${step} | ${path} | ${message}`,
  );
}

function step(name: string, more: Partial<StepDraft> = {}): StepDraft {
  return { name, agentId: 'agt_a', ...more };
}

test('applies the defaults of omitted fields', () => {
  const { definition, problems } = checkWorkflow(
    {
      steps: [
        step('split', { forEach: { list: [1] }, fallback: { output: [] } }),
        step('join', { fallback: { agentId: 'agt_a' } }),
      ],
    },
    agents,
  );
  assert.deepEqual(problems, []);
  const common = { agentId: 'agt_a', variables: {}, after: [], when: null };
  const rules = { onFailure: 'fail', onUnreadable: 'fail' };
  assert.deepEqual(definition, {
    input: { required: [], optional: [], defaults: {} },
    timeoutMs: 3_600_000,
    steps: [
      {
        ...{ name: 'split', ...common, ...rules, fallback: { output: [] } },
        forEach: { list: [1], concurrency: 5, max: 100 },
      },
      {
        ...{ name: 'join', ...common, ...rules, forEach: null },
        fallback: { agentId: 'agt_a', variables: {} },
      },
    ],
    output: null,
  });
});

test('a definition with every feature is valid', () => {
  const draft: DefinitionDraft = {
    input: { required: ['ticket'], optional: ['locale'], defaults: { tone: 'kind' } },
    steps: [
      step('triage', { variables: { text: '{{ input.ticket.body[0] }}' } }),
      step('reply', {
        agentId: 'agt_topic',
        variables: { topic: '{{steps.triage.output.kind}}', tone: 'A {{input.tone}} one' },
        when: "steps.triage.output.kind == 'billing' && input.locale == 'en'",
        fallback: { output: '{{input.ticket}}' },
        onFailure: 'continue',
      }),
      step('each', {
        forEach: { list: '{{steps.triage.output.parts}}', concurrency: 2, max: 10 },
        variables: { x: '{{item.id}} {{index}}' },
        fallback: { agentId: 'agt_a', variables: { x: '{{item}}' } },
        after: ['reply'],
      }),
    ],
    output: { reply: '{{steps.reply.output}}', all: ['{{steps.each.output}}', '{{other}}'] },
  };
  assert.deepEqual(problemsOf(draft), []);
  assert.deepEqual(agentsOf(draft), ['agt_a', 'agt_topic']);
});

test('reports all problems at once, each with its step and path', () => {
  const draft: DefinitionDraft = {
    input: { required: ['a'], optional: ['a', 'b'] },
    steps: [
      step('one', { agentId: 'agt_none', variables: { x: '{{input.zzz}} {{input.zzz.y}}' } }),
      step('one', { after: ['nobody'] }),
      step('two', { agentId: 'agt_draft', variables: { x: ['{{steps.missing.output}}'] } }),
      step('three', { agentId: 'agt_topic', variables: { topic: 'x', tone: null } }),
      step('four', { variables: { x: '{{item}}' }, when: 'input.a ==' }),
      step('five', { when: 'steps.absent.output == 1', forEach: { list: '{{item}}' } }),
      step('six', { fallback: { agentId: 'agt_topic', variables: { topic: '{{index}}' } } }),
      step('seven', { variables: { x: 'a {{steps.one.outptu}} b' } }),
    ],
    output: '{{steps.nowhere.output}}',
  };
  const found = problemsOf(draft);
  const unreadable = found.findIndex((one) => one.startsWith('four | steps.4.when | '));
  assert.ok(unreadable >= 0);
  found.splice(unreadable, 1);
  assert.deepEqual(found, [
    'null | input.optional | The input "a" cannot be both required and optional.',
    'one | steps.0.agentId | There is no agent agt_none.',
    'one | steps.0.variables | There is no input "zzz".',
    'one | steps.1.name | Another step has the name "one".',
    'one | steps.1.after.0 | There is no step "nobody".',
    'two | steps.2.agentId | The agent "D" is in stage Draft, not Deployed.',
    'two | steps.2.variables | There is no step "missing".',
    'three | steps.3.variables | The agent "Topic" requires variables that are not set: tone.',
    'four | steps.4.variables | {{item}} is defined only in a step with "forEach".',
    'five | steps.5.when | There is no step "absent".',
    'five | steps.5.forEach.list | {{item}} is defined only in a step with "forEach".',
    'six | steps.6.fallback.variables | The agent "Topic" requires variables that are not set: tone.',
    'six | steps.6.fallback.variables | {{index}} is defined only in a step with "forEach".',
    'seven | steps.7.variables | {{steps.one.outptu}} is not a valid reference.',
    'null | output | There is no step "nowhere".',
  ]);
});

test('reports a cycle once, from any start and through any kind of reference', () => {
  const cycle = (...steps: StepDraft[]) => problemsOf({ steps });
  assert.deepEqual(cycle(step('a', { after: ['a'] })), [
    'a | steps.0 | The step waits for itself.',
  ]);
  const found = cycle(
    step('start', { after: ['b'] }),
    step('a', { variables: { x: '{{steps.c.output}}' } }),
    step('b', { when: 'steps.a.output == 1' }),
    step('c', { fallback: { output: '{{steps.b.output}}' } }),
    step('end', { after: ['a', 'b', 'c'] }),
  );
  assert.deepEqual(found, ['b | steps.2 | These steps wait for each other: b, a, c, b.']);
});

test('a fallback is either an agent or an output', () => {
  const messages = (fallback: object) =>
    problemsOf({ steps: [step('a', { fallback })] }).map((one) => one.split(' | ')[2]);
  assert.deepEqual(messages({}), ['A fallback is either an agent or an output.']);
  const both = { agentId: 'agt_a', output: null };
  assert.deepEqual(messages(both), ['A fallback is either an agent or an output.']);
  assert.deepEqual(messages({ output: 1, variables: {} }), [
    'A fallback with a fixed output cannot have variables.',
  ]);
  assert.deepEqual(messages({ output: null }), []);
});

test('names of Object.prototype are ordinary names', () => {
  const draft: DefinitionDraft = {
    input: { required: ['__proto__'] },
    steps: [
      step('constructor', { variables: { x: '{{input.__proto__}}' } }),
      step('__proto__', { variables: { x: '{{steps.constructor.output}}' } }),
      step('toString', { variables: { x: '{{input.valueOf}} {{steps.hasOwnProperty.output}}' } }),
    ],
  };
  assert.deepEqual(problemsOf(draft), [
    'toString | steps.2.variables | There is no input "valueOf".',
    'toString | steps.2.variables | There is no step "hasOwnProperty".',
  ]);
});

test('limits the references of a workflow, wherever they occur', () => {
  const withReferences = (count: number): DefinitionDraft => ({
    input: { required: ['a'] },
    steps: [
      step('one', { variables: { x: '{{input.a}}'.repeat(count - 5), y: ['{{ input.a }}'] } }),
      step('two', {
        forEach: { list: '{{input.a}}' },
        fallback: { agentId: 'agt_a', variables: { x: '{{item}} {{index}}' } },
      }),
    ],
    output: { of: '{{input.a}}' },
  });
  assert.deepEqual(problemsOf(withReferences(1_000)), []);
  assert.deepEqual(problemsOf(withReferences(1_001)), [
    'null | steps | The workflow has 1001 references. At most 1000 are allowed.',
  ]);
});
