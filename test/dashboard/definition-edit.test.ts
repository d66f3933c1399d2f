import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import {
  addStep,
  editDefinition,
  removeStep,
  renameStep,
  setValue,
  setValues,
} from '../../dashboard/data/workflows/definition-edit.ts';
import { readDefinition, writeDefinition } from '../../dashboard/data/workflows/definition-text.ts';
import { layoutGraph } from '../../dashboard/data/workflows/graph-layout.ts';
import {
  unknownAgentId,
  withAgentIds,
  withAgentNames,
} from '../../dashboard/data/workflows/named-agents.ts';
import { availableReferences } from '../../dashboard/data/workflows/references.ts';
import {
  declareAgents,
  modelsOf,
  templateDefinition,
  templates,
} from '../../dashboard/data/workflows/templates.ts';
import { graphSteps } from '../../dashboard/data/workflows/workflow-graph.ts';
import { waitsFor } from '../../src/core/workflow/step-graph.ts';
import { fillDefinition } from '../../src/features/workflows/rules/fill-definition.ts';

const written = `# What comes in
input:
  required: [ ticket ] # from the desk
steps:
  # First of all
  - name: triage
    agent: Triage
    variables: { ticket: '{{input.ticket}}' }

  - name: reply
    agent: "Reply" # the best one
    when: steps.triage.output.kind != 'spam'
    after: [ triage ]
    variables:
      text: |-
        About {{steps.triage.output.kind}}:
        {{ steps.triage.output.summary }}
      number: 1.10
output: "{{steps.reply.output}}"
`;

test('an edit by form changes its value and keeps comments, quotes and numbers', () => {
  const to = setValue(['steps', 1, 'agent'], 'Other');
  assert.equal(editDefinition(written, 'YAML', to), written.replace('"Reply"', '"Other"'));
  const same = editDefinition(written, 'YAML', () => {});
  assert.equal(same, written);
  const timeout = editDefinition(written, 'YAML', setValue(['timeoutMs'], 60_000));
  assert.equal(timeout, `${written}timeoutMs: 60000\n`);
});

test('a value that becomes undefined goes, with the collections that become empty', () => {
  const removed = editDefinition(written, 'YAML', setValue(['input', 'required'], undefined));
  assert.deepEqual(Object.keys(parse(removed)), ['steps', 'output']);
  const agent = { agentId: 'agt_1', agent: undefined };
  const only = 'steps:\n  - agent: A\n';
  assert.deepEqual(parse(editDefinition(only, 'YAML', setValues(['steps', 0], agent))), {
    steps: [{ agentId: 'agt_1' }],
  });
});

test('values are set in what is empty, absent or an alias', () => {
  for (const text of ['', 'steps:\n', 'steps: []\n', 'steps:\n  - name: a\n    forEach:\n']) {
    const edited = editDefinition(text, 'YAML', setValue(['input', 'required'], ['a']));
    assert.deepEqual(parse(edited).input, { required: ['a'] }, text);
  }
  const empty = 'steps:\n  - name: a\n    forEach:\n';
  const list = editDefinition(
    empty,
    'YAML',
    setValue(['steps', 0, 'forEach', 'list'], '{{input.x}}'),
  );
  assert.deepEqual(parse(list), { steps: [{ name: 'a', forEach: { list: '{{input.x}}' } }] });
  const shared = 'steps:\n  - variables: &v { a: x }\n  - variables: *v\n';
  const edited = editDefinition(shared, 'YAML', setValue(['steps', 1, 'variables', 'a'], 'y'));
  assert.deepEqual(parse(edited).steps, [{ variables: { a: 'x' } }, { variables: { a: 'y' } }]);
});

test('steps are added and removed', () => {
  for (const text of ['', 'input: {}\n', written]) {
    const before = parse(text)?.steps ?? [];
    const added = editDefinition(text, 'YAML', addStep({ name: 'more' }));
    assert.deepEqual(parse(added).steps, [...before, { name: 'more' }]);
    assert.deepEqual(
      parse(editDefinition(added, 'YAML', removeStep(before.length))).steps ?? [],
      before,
    );
  }
});

test('a rename also renames all references to the step', () => {
  const renamed = editDefinition(written, 'YAML', renameStep(0, 'sort'));
  assert.equal(
    renamed,
    written
      .replace('name: triage', 'name: sort')
      .replaceAll('steps.triage', 'steps.sort')
      .replace('[ triage ]', '[ sort ]'),
  );
  const similar = `steps:
  - name: a
  - name: ab
    when: steps['a'].output == steps.ab.output
    variables: { text: "{{steps.a.output}} {{steps.ab.output}}" }
`;
  const [, other] = parse(editDefinition(similar, 'YAML', renameStep(0, 'x'))).steps;
  assert.deepEqual(other, {
    name: 'ab',
    when: "steps['x'].output == steps.ab.output",
    variables: { text: '{{steps.x.output}} {{steps.ab.output}}' },
  });
});

test('edits of JSON stay JSON and keep numbers as written', () => {
  const json = writeDefinition(readDefinition(written).definition, 'JSON');
  const edited = editDefinition(json, 'JSON', setValue(['steps', 0, 'name'], 'sort'));
  assert.match(edited, /"number": 1\.10/);
  assert.equal(JSON.parse(edited).steps[0].name, 'sort');
});

test('agents are named where a name identifies one', () => {
  const { definition } = readDefinition(written);
  const known = new Map([
    ['Triage', ['agt_1']],
    ['Reply', ['agt_2', 'agt_3']],
    ['None', []],
  ]);
  const resolved = withAgentIds(definition, known);
  const [triage, reply] = (resolved.definition as { steps: { agentId: string }[] }).steps;
  assert.equal(triage?.agentId, 'agt_1');
  assert.equal(reply?.agentId, unknownAgentId);
  assert.deepEqual(
    [...resolved.problems],
    [['steps.1.agentId', '2 agents are called "Reply". Write the agentId of one instead.']],
  );
  const missing = withAgentIds({ steps: [{ fallback: { agent: 'None' } }] }, known).problems;
  assert.deepEqual([...missing], [['steps.0.fallback.agentId', 'There is no agent "None".']]);
  // Whatever is malformed stays for the server to report.
  for (const odd of [null, 7, [], { steps: 7 }, { steps: [null, 'x', { agent: 7 }] }]) {
    assert.deepEqual(withAgentIds(odd, known).definition, odd);
  }
  const both = { steps: [{ agent: 'Triage', agentId: 'agt_1' }] };
  assert.deepEqual(withAgentIds(both, known).definition, both);
  const ids = fillDefinition({
    steps: [
      { name: 'a', agentId: 'agt_1', variables: {} },
      { name: 'b', agentId: 'agt_2', variables: {}, fallback: { agentId: 'agt_1' } },
    ],
  });
  const named = withAgentNames(ids as never, (id) => (id === 'agt_1' ? 'Triage' : undefined));
  assert.equal(
    writeDefinition(named, 'YAML'),
    'steps:\n  - name: a\n    agent: Triage\n  - name: b\n    agentId: agt_2\n    fallback:\n      agent: Triage\n',
  );
});

test('the line of an agent is that of its name', () => {
  const { lineOf } = readDefinition(written);
  assert.equal(lineOf('steps.1.agentId'), 11);
  assert.equal(lineOf('steps.1.variables.text'), 15);
});

test('the graph finds the references that the server finds, even in malformed definitions', () => {
  for (const template of templates) {
    const { definition } = withAgentIds(templateDefinition(template), new Map());
    const filled = fillDefinition(definition as Parameters<typeof fillDefinition>[0]);
    const steps = graphSteps(definition);
    for (const step of filled.steps) {
      const found = steps.find(({ name }) => name === step.name);
      assert.deepEqual(
        found?.dependencies.map(({ name }) => name).toSorted(),
        waitsFor(step).toSorted(),
      );
    }
  }
  const odd = {
    steps: [null, 7, { name: 5, after: 'x', when: 3 }, { name: 'a', after: ['a', 9] }],
  };
  assert.deepEqual(
    graphSteps(odd).map(({ name, dependencies }) => [name, dependencies.length]),
    [
      ['Step 1', 0],
      ['Step 2', 0],
      ['Step 3', 0],
      ['a', 0],
    ],
  );
  for (const other of [undefined, null, 'x', {}, { steps: {} }])
    assert.deepEqual(graphSteps(other), []);
});

test('the layout puts steps behind their dependencies, even in a cycle', () => {
  const steps = graphSteps(templates[2] && templateDefinition(templates[2]));
  for (const direction of ['LR', 'TB'] as const) {
    const { nodes, edges, width, height } = layoutGraph(steps, direction);
    const at = (index: number) => nodes.find(({ step }) => step.index === index);
    assert.equal(edges.length, 2);
    for (const { from, to } of edges) {
      const [one, other] = [at(from), at(to)];
      assert.ok(one && other && (direction === 'LR' ? one.x < other.x : one.y < other.y));
    }
    assert.ok(width > 0 && height > 0);
  }
  const cycle = graphSteps({
    steps: [
      { name: 'a', after: ['b'] },
      { name: 'b', after: ['a'] },
    ],
  });
  assert.equal(layoutGraph(cycle, 'LR').nodes.length, 2);
  assert.deepEqual(layoutGraph([], 'LR').nodes, []);
});

test('references are the inputs and the outputs of steps', () => {
  const { definition } = readDefinition(written);
  assert.deepEqual(availableReferences(definition), [
    'input.ticket',
    'steps.triage.output',
    'steps.reply.output',
  ]);
  assert.deepEqual(availableReferences({ input: 7, steps: [null] }), []);
});

test('templates are the documented examples', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/workflows.md'), 'utf8');
  const documented = [...page.matchAll(/```yaml\n# ([\w-]+)\n(.*?)```/gs)].map(([, , text = '']) =>
    parse(text),
  );
  assert.deepEqual(
    templates.map(({ prompts, agents, workflow }) => ({ prompts, agents, workflows: [workflow] })),
    documented,
  );
});

test('agents of a template are declared with the selected models', () => {
  const [, , judge] = templates;
  assert.ok(judge);
  const all = modelsOf(judge);
  assert.deepEqual(declareAgents(judge, all), { prompts: judge.prompts, agents: judge.agents });
  const echo = 'cueline/echo';
  const { prompts, agents } = declareAgents(judge, { 'Answer A': echo, 'Answer B': 'openai/b' });
  assert.deepEqual(prompts, [
    { name: 'Answer', versions: [{ label: echo, user: '{{question}}', model: echo }] },
  ]);
  assert.deepEqual(
    agents?.map(({ name, version, agentConfig }) => [name, version, agentConfig?.model]),
    [
      ['Answer A', echo, undefined],
      ['Answer B', echo, 'openai/b'],
    ],
  );
});
