import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TSchema } from 'typebox';
import { shorten } from '../../../src/api/http/shorten-body.ts';
import { checkBody, checkQuery, complaints } from '../../../src/api/http/validate.ts';
import { AgentInput, AgentPatch } from '../../../src/contract/agents/agent-record.ts';
import type { Endpoint } from '../../../src/contract/endpoint.ts';
import { listExecutions } from '../../../src/contract/executions/executions.ts';
import { endpoints } from '../../../src/contract/index.ts';
import { WorkflowDefinitionInput } from '../../../src/contract/workflows/workflow-definition.ts';

/** Bodies that are seen to be wrong at once, and took minutes to say why. */

interface Parts extends TSchema {
  readonly properties?: Readonly<Record<string, Parts>>;
  readonly items?: Parts;
  readonly maxItems?: number;
  readonly enum?: readonly unknown[];
}

interface List {
  readonly body: TSchema;
  readonly path: string;
  readonly schema: Parts;
  /** A body with this for the list, and nothing else. */
  with(value: unknown): unknown;
}

const bodies = (Object.values(endpoints) as Endpoint[]).flatMap(({ body }) =>
  body ? [body as Parts] : [],
);
const lists = bodies.flatMap((body) => listsIn({ body, path: '', schema: body, with: (it) => it }));

function listsIn(at: List): List[] {
  const { properties = {}, items } = at.schema;
  const inner = Object.entries(properties).flatMap(([name, schema]) =>
    listsIn({ ...at, path: `${at.path}.${name}`, schema, with: (it) => at.with({ [name]: it }) }),
  );
  if (!items) return inner;
  return [
    ...[at, ...inner],
    ...listsIn({ ...at, path: `${at.path}.0`, schema: items, with: (it) => at.with([it]) }),
  ];
}

function refusal(schema: TSchema, value: unknown): string {
  try {
    checkBody(schema, value);
  } catch (error) {
    return (error as Error).message;
  }
  return assert.fail('it is not refused');
}

const unknown = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`k${n}`, n]));
const long = Array(250_000).fill('a');

test('every list says why it is refused, however often its values repeat', () => {
  assert.ok(lists.length > 20);
  for (const { body, path, with: bodyWith } of lists) {
    for (const one of [1, 'a', '']) {
      const message = refusal(body, bodyWith(Array(250_000).fill(one)));
      assert.doesNotMatch(message, /is not valid\.$/, path);
    }
  }
});

test('no body is of a kind that is cut where it must not be', () => {
  const kinds = (schema: object): string[] =>
    Object.entries(schema).flatMap(([word, inner]) => {
      if (/^(anyOf|oneOf|allOf|patternProperties)$/.test(word)) return [word];
      if (word === 'additionalProperties' && inner?.properties) return [word];
      return typeof inner === 'object' && inner !== null && word !== 'enum' ? kinds(inner) : [];
    });
  assert.deepEqual(bodies.flatMap(kinds), []);
});

test('every list has a bound, or its items have fewer values', () => {
  for (const { path, schema } of lists) {
    assert.ok(schema.maxItems !== undefined || schema.items?.enum, path);
  }
});

test('what is left is one item more than there may be, and as many unknown fields as are told', () => {
  const body = { ...unknown, tags: long, defaultVariableValues: unknown };
  const left = shorten(AgentPatch, body) as Record<string, object>;
  assert.equal(Object.keys(left).length, 8 + 2);
  assert.equal(Object.keys(left.tags ?? {}).length, 21);
  assert.equal(Object.keys(left.defaultVariableValues ?? {}).length, 201);
});

test('what is wrong is told as it was: too many, unknown, and nothing missing that is there', () => {
  const of = (body: object) => refusal(AgentPatch, body);
  assert.equal(of({ tags: long }), 'Field "tags" must not have more than 20 items.');
  assert.equal(of({ tags: ['a', 'a'] }), 'Field "tags" must not have duplicate items.');
  assert.equal(
    of({ defaultVariableValues: unknown }),
    'Field "defaultVariableValues" must not have more than 200 properties.',
  );
  assert.match(
    of({ ...unknown, project: 'x' }),
    /^Field "k0" is not known: allowed are agentName, /,
  );
  const all = { ...unknown, agentName: 'a', promptId: 'b', promptVersionId: 'c' };
  assert.match(refusal(AgentInput, all), /^Field "k0" is not known/);
  // A name that every object has is none of ours.
  assert.match(of(JSON.parse('{"__proto__": 1}')), /^Field "__proto__" is not known/);
  assert.match(of({ constructor: 1 }), /^Field "constructor" is not known/);
});

test('all that is wrong with a definition is told of what is left of it', () => {
  const step = { name: 'one', agentId: 'agt_1', after: long };
  const found = complaints(WorkflowDefinitionInput, { steps: [step], timeoutMs: 0, ...unknown });
  assert.equal(found.length, 8);
  const steps = complaints(WorkflowDefinitionInput, { steps: [step] });
  assert.deepEqual(
    steps.map(({ path, message }) => [path, message]),
    [
      ['steps.0.after', '"steps.0.after" must not have more than 50 items.'],
      ['steps.0.after', '"steps.0.after" must not have duplicate items.'],
    ],
  );
});

test('the last of many filters is told where it is the wrong one', () => {
  const names = Array.from({ length: 10 }, (_, n) => `variables.v${n}`);
  const filters = Object.fromEntries(names.map((name) => [name, 'x']));
  assert.throws(
    () => checkQuery(listExecutions.query, { ...filters, 'variables.v9': 'x'.repeat(1_001) }),
    {
      message: 'Parameter "variables.v9" must not have more than 1000 characters.',
    },
  );
});

test('a name as long as a body is told by how it begins', () => {
  for (const sign of ['a', '/']) {
    const message = refusal(AgentPatch, { [sign.repeat(1_000_000)]: 1 });
    assert.match(message, /^Field ".{300}…" is not known: allowed are agentName, /);
  }
});
