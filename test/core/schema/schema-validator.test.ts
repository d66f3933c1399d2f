import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { RE2JS } from 're2js';
import { readSchema } from '../../../src/core/schema/read-schema.ts';
import {
  findMismatch,
  findSchemaProblem,
  schemaValidator,
} from '../../../src/core/schema/schema-validator.ts';

/** Where and why a value does not match; null if it matches. */
function check(schema: unknown, value: unknown) {
  const json = JSON.stringify(value);
  const mismatch = findMismatch({ workspaceId: 'w', schema: JSON.stringify(schema) }, json);
  return mismatch && [mismatch.path, mismatch.message];
}

const draft7 = 'http://json-schema.org/draft-07/schema#';
const list = { type: 'object', properties: { a: { items: { enum: ['x', 'y'] } } } };
const tree = {
  ...{ $ref: '#/$defs/node', $defs: { node: { type: 'object' } } },
};
const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } } };

const cases: [string, unknown, unknown, [string, string] | null][] = [
  ['a match', { type: 'integer' }, 5, null],
  ['another type', { type: 'integer' }, '5', ['', 'must be integer']],
  ['no number for a text', { type: 'string' }, 5, ['', 'must be string']],
  ['true', true, 5, null],
  ['false', false, 5, ['', 'boolean schema is false']],
  ['a nested value', list, { a: ['x', 'z'] }, ['/a/1', 'must be one of ["x","y"]']],
  [
    'an extra property',
    { additionalProperties: false, properties: { a: {} } },
    { b: 1 },
    ['', 'must not have the property "b"'],
  ],
  [
    'a missing property that every object inherits',
    { required: ['constructor'] },
    {},
    ['', "must have required property 'constructor'"],
  ],
  [
    'a reference',
    { ...tree, $defs: { node } },
    { next: { next: 5 } },
    ['/next/next', 'must be object'],
  ],
  [
    'an anchor',
    { $ref: '#a', $defs: { x: { $anchor: 'a', type: 'null' } } },
    5,
    ['', 'must be null'],
  ],
  [
    'the id of another schema',
    { $id: 'https://example.com/a', type: 'null' },
    5,
    ['', 'must be null'],
  ],
  ['the same id', { $id: 'https://example.com/a', type: 'string' }, 5, ['', 'must be string']],
  ['2020-12', { prefixItems: [{ type: 'string' }] }, [1], ['/0', 'must be string']],
  ['draft-07', { $schema: draft7, items: [{ type: 'string' }] }, [1], ['/0', 'must be string']],
  ['an OpenAPI null', { type: 'string', nullable: true }, null, null],
  ['a format', { format: 'date' }, '2026-02-30', ['', 'must match format "date"']],
  ['an unknown format', { format: 'color' }, 'x', null],
  ['an unknown keyword', { type: 'string', example: 5, 'x-order': 1 }, 'x', null],
  ['characters, not units', { maxLength: 2, minLength: 2 }, '😀😀', null],
  ['too short', { minLength: 3 }, '😀😀', ['', 'must have at least 3 characters']],
  ['too long', { maxLength: 1 }, '😀😀', ['', 'must have at most 1 characters']],
  [
    'duplicates',
    { uniqueItems: true },
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    ['', 'must not have duplicate items'],
  ],
  ['no duplicates', { uniqueItems: true }, [1, '1', [1], { 1: 1 }], null],
  [
    'a pattern',
    { pattern: '^\\d{4}-\\d{2}$' },
    '2026-1',
    ['', 'must match pattern "^\\d{4}-\\d{2}$"'],
  ],
  ['a pattern in JavaScript syntax', { pattern: '^[\\w\\/\\-]+\\u00e9$' }, 'a/b-é', null],
];
for (const [name, schema, value, expected] of cases) {
  test(`validates: ${name}`, () => assert.deepEqual(check(schema, value), expected));
}

const invalid: [string, unknown, RegExp][] = [
  ['an unknown type', { type: 'text' }, /at \/type: must be one of \["array"/],
  [
    'a nested one',
    { properties: { a: { minimum: 'x' } } },
    /at \/properties\/a\/minimum: must be number/,
  ],
  ['a list', [], /must be an object or a boolean/],
  ['null', null, /must be an object or a boolean/],
  [
    'a remote reference',
    { $ref: 'https://example.com/a' },
    /at \/\$ref: must refer to a part of the same/,
  ],
  ['the rules themselves', { $ref: draft7 }, /must refer to a part of the same/],
  [
    'a reference to nothing',
    { $ref: '#/$defs/a' },
    /refers to #\/\$defs\/a, which is no schema within this one/,
  ],
  [
    'a reference to a value',
    { $ref: '#/enum/0', enum: [{}] },
    /which is no schema within this one/,
  ],
  ['too many', { allOf: Array(501).fill({}) }, /holds more than 500 schemas/],
  ['too many booleans', { allOf: Array(500).fill(true) }, /holds more than 500 schemas/],
  [
    'too many required names',
    { required: names(1_001) },
    /holds more than 1000 names of properties/,
  ],
  [
    'too many names together',
    { dependentRequired: { a: names(400) }, dependencies: { a: names(400) }, required: names(300) },
    /holds more than 1000 names of properties/,
  ],
  [
    'too many patterns',
    { patternProperties: Object.fromEntries(names(101).map((name) => [name, true])) },
    /holds more than 100 patterns/,
  ],
  [
    'long patterns together',
    { allOf: Array.from({ length: 12 }, (_, n) => ({ pattern: `[ab]{900}${n}` })) },
    /patterns of more than 10000 instructions together/,
  ],
  [
    'repetitive patterns together',
    { allOf: Array.from({ length: 9 }, (_, n) => ({ pattern: `(a|b|c){900}${n}` })) },
    /patterns of more than 10000 instructions together/,
  ],
  ['a dynamic reference', { $dynamicRef: '#a' }, /at \/\$dynamicRef: is not supported/],
  [
    'another draft',
    { $schema: 'http://json-schema.org/draft-04/schema#' },
    /at \/\$schema: must be draft/,
  ],
  ['lookaround', { pattern: '(?=a)' }, /at \/pattern: is not supported: use RE2/],
  ['a backreference', { pattern: '(a)\\1' }, /at \/pattern: is not supported/],
  ['a named one', { pattern: '(?<x>a)\\k<x>' }, /at \/pattern: is not supported/],
  ['many repetitions', { pattern: '((a{0,100}){0,100}){0,100}' }, /at \/pattern/],
  [
    'a name as a pattern',
    { patternProperties: { '(?!a)': {} } },
    /at \/patternProperties\/\(\?!a\)/,
  ],
  ['a long one', { enum: ['x'.repeat(70_000)] }, /is longer than 65536 characters/],
  ['a deep one', deep(200), /is nested deeper than 64 levels/],
];
function names(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `name${n}`);
}
function deep(levels: number): unknown {
  return levels === 0 ? {} : { not: deep(levels - 1) };
}
for (const [name, schema, message] of invalid) {
  test(`rejects as a schema: ${name}`, () => {
    const text = JSON.stringify(schema);
    const problem = findSchemaProblem({ workspaceId: 'w', schema: text, strict: true });
    assert.match(problem ?? '', /^is not a valid JSON schema/);
    assert.match(problem ?? '', message);
  });
}

/** Each of them references the next one twice. */
const doubling = Object.fromEntries(
  Array.from({ length: 60 }, (_, n) => {
    const next = { $ref: `#/$defs/d${n + 1}` };
    return [`d${n}`, { allOf: [next, next] }];
  }),
);
const child = { properties: { a: { $ref: '#' } } };
const nested = JSON.parse(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`);
const hostile: [string, unknown, unknown][] = [
  ['a reference to itself', { $ref: '#' }, 5],
  ['references that double', { $ref: '#/$defs/d0', $defs: { ...doubling, d60: {} } }, 'x'],
  ['properties that double', { allOf: [child, child] }, nested],
  ['many lengths', { allOf: Array(499).fill({ minLength: 600_000 }) }, 'é'.repeat(1_000_000)],
  ['many objects', { allOf: Array(499).fill({ minProperties: 1 }) }, manyProperties(50_000)],
  ['many patterns', { allOf: Array(499).fill({ pattern: '(a?){200}b' }) }, 'a'.repeat(200_000)],
];
function manyProperties(count: number): unknown {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, n]));
}
for (const [name, schema, value] of hostile) {
  test(`gives up on: ${name}`, () => {
    const expected = ['', 'takes too long to check: simplify the schema or the value'];
    assert.deepEqual(check(schema, value), expected);
  });
}

test('a pattern that backtracks elsewhere takes linear time', () => {
  assert.deepEqual(check({ pattern: '^(a+)+$' }, `${'a'.repeat(30_000)}!`)?.[0], '');
  assert.equal(check({ pattern: '^(a+)+$' }, 'a'.repeat(30_000)), null);
});

test('large values of usual schemas pass', () => {
  const item = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] };
  const items = Array.from({ length: 50_000 }, (_, id) => ({ id, name: 'A name' }));
  assert.equal(check({ type: 'array', items: item }, items), null);
  assert.equal(check({ pattern: '^[a-z ]+$' }, 'word '.repeat(100_000)), null);
});

test('each pattern is compiled once, however often it occurs', () => {
  const patternProperties = { '^only-here': { pattern: '^only-here' } };
  const one = { patternProperties, additionalProperties: false };
  const compile = mock.method(RE2JS, 'compile');
  try {
    assert.equal(check({ anyOf: [one, { not: one }], pattern: '^only-here' }, { other: 1 }), null);
    assert.equal(compile.mock.callCount(), 1);
  } finally {
    compile.mock.restore();
  }
});

test('a schema from before a limit existed matches nothing, and the message names the limit', () => {
  const before = { allOf: Array(501).fill(true) };
  const message = 'cannot be checked, because its schema holds more than 500 schemas';
  assert.deepEqual(check(before, 5), ['', message]);
});

test('the cost of compiling grows with schemas, names and instructions of patterns', () => {
  const cost = (schema: unknown) => readSchema(schema).compileCost;
  const plain = cost({ enum: ['x'.repeat(60_000)] });
  assert.ok(cost({ allOf: [{}, {}] }) > plain);
  assert.ok(cost({ required: ['a', 'b'] }) > plain);
  assert.ok(cost({ pattern: '[ab]{900}' }) > cost({ pattern: 'a' }));
});

test('a workspace with many schemas evicts its own from the cache', () => {
  const own = { workspaceId: 'modest', schema: '{"type":"string"}' };
  const compiled = schemaValidator(own);
  const long = (n: number) => ({
    workspaceId: 'greedy',
    schema: JSON.stringify({ enum: [n, 'x'.repeat(60_000)] }),
  });
  const first = schemaValidator(long(0));
  // Together they would fill the whole cache.
  for (let n = 1; n < 80; n++) schemaValidator(long(n));
  assert.equal(schemaValidator(own), compiled);
  assert.notEqual(schemaValidator(long(0)), first);
});
