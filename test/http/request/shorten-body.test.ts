import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TSchema } from 'typebox';
import { endpoints } from '../../../src/faces/reference/operations-index.ts';
import { AgentInput, AgentPatch } from '../../../src/features/agents/contract/agent-record.ts';
import { listExecutions } from '../../../src/features/executions/contract/executions-contract.ts';
import { WorkflowDefinitionInput } from '../../../src/features/workflows/contract/workflow-definition.ts';
import type { Endpoint } from '../../../src/http/contract/operation.ts';
import { shorten } from '../../../src/http/request/shorten-body.ts';
import { checkBody, checkQuery, validationErrors } from '../../../src/http/request/validate.ts';

/** Invalid bodies whose explanation would take minutes without shortening. */

interface SchemaNode extends TSchema {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly maxItems?: number;
  readonly enum?: readonly unknown[];
}

interface List {
  readonly body: TSchema;
  readonly path: string;
  readonly schema: SchemaNode;
  /** A body that contains only this value, at the path of the list. */
  with(value: unknown): unknown;
}

/** The OpenAI API reads its bodies itself, parameter by parameter. */
const bodies = (Object.values(endpoints) as Endpoint[]).flatMap(({ path, body }) =>
  body && !path.startsWith('/v1/') ? [body as SchemaNode] : [],
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

function rejectionMessage(schema: TSchema, value: unknown): string {
  try {
    checkBody(schema, value);
  } catch (error) {
    return (error as Error).message;
  }
  return assert.fail('the value is valid');
}

const unknown = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`k${n}`, n]));
const long = Array(250_000).fill('a');

test('a list with many duplicates is rejected with a reason', () => {
  assert.ok(lists.length > 20);
  for (const { body, path, with: bodyWith } of lists) {
    for (const one of [1, 'a', '']) {
      const message = rejectionMessage(body, bodyWith(Array(250_000).fill(one)));
      assert.doesNotMatch(message, /is not valid\.$/, path);
    }
  }
});

test('no schema uses keywords that shortening does not support', () => {
  const kinds = (schema: object): string[] =>
    Object.entries(schema).flatMap(([word, inner]) => {
      if (/^(oneOf|allOf|patternProperties)$/.test(word)) return [word];
      if (word === 'additionalProperties' && inner?.properties) return [word];
      return typeof inner === 'object' && inner !== null && word !== 'enum' ? kinds(inner) : [];
    });
  assert.deepEqual(bodies.flatMap(kinds), []);
});

test('every list has a maximum length or enum items', () => {
  for (const { path, schema } of lists) {
    assert.ok(schema.maxItems !== undefined || schema.items?.enum, path);
  }
});

test('a shortened body contains one item above the limit and as many unknown fields as are reported', () => {
  const body = { ...unknown, tags: long, defaultVariableValues: unknown };
  const shortened = shorten(AgentPatch, body) as Record<string, object>;
  assert.equal(Object.keys(shortened).length, 8 + 2);
  assert.equal(Object.keys(shortened.tags ?? {}).length, 21);
  assert.equal(Object.keys(shortened.defaultVariableValues ?? {}).length, 201);
});

test('the reasons of a shortened body are those of the full body', () => {
  const message = (body: object) => rejectionMessage(AgentPatch, body);
  assert.equal(message({ tags: long }), 'Field "tags" must not have more than 20 items.');
  assert.equal(message({ tags: ['a', 'a'] }), 'Field "tags" must not have duplicate items.');
  assert.equal(
    message({ defaultVariableValues: unknown }),
    'Field "defaultVariableValues" must not have more than 200 properties.',
  );
  assert.match(message({ ...unknown, project: 'x' }), /^Unknown field "k0". Allowed: agentName, /);
  const all = { ...unknown, agentName: 'a', promptId: 'b', promptVersionId: 'c' };
  assert.match(rejectionMessage(AgentInput, all), /^Unknown field "k0"\./);
  // Properties of every object are unknown fields.
  assert.match(message(JSON.parse('{"__proto__": 1}')), /^Unknown field "__proto__"\./);
  assert.match(message({ constructor: 1 }), /^Unknown field "constructor"\./);
});

test('all errors of a shortened definition are reported', () => {
  const step = { name: 'one', agentId: 'agt_1', after: long };
  const found = validationErrors(WorkflowDefinitionInput, {
    steps: [step],
    timeoutMs: 0,
    ...unknown,
  });
  assert.equal(found.length, 8);
  const steps = validationErrors(WorkflowDefinitionInput, { steps: [step] });
  assert.deepEqual(
    steps.map(({ path, message }) => [path, message]),
    [
      ['steps.0.after', 'Field "steps.0.after" must not have more than 50 items.'],
      ['steps.0.after', 'Field "steps.0.after" must not have duplicate items.'],
    ],
  );
});

test('the last of many filters is reported if it is the invalid one', () => {
  const names = Array.from({ length: 10 }, (_, n) => `variables.v${n}`);
  const filters = Object.fromEntries(names.map((name) => [name, 'x']));
  assert.throws(
    () => checkQuery(listExecutions.query, { ...filters, 'variables.v9': 'x'.repeat(1_001) }),
    {
      message: 'Parameter "variables.v9" must not have more than 1000 characters.',
    },
  );
});

test('a name as long as the body is truncated', () => {
  for (const sign of ['a', '/']) {
    const message = rejectionMessage(AgentPatch, { [sign.repeat(1_000_000)]: 1 });
    assert.match(message, /^Unknown field ".{300}…". Allowed: agentName, /);
  }
});
