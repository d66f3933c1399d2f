import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import {
  findMismatch,
  findSchemaProblem,
  schemaWarnings,
} from '../../../src/core/schema/schema-validator.ts';

/**
 * Schemas as Zod 4.0 to 4.6 and Pydantic write them. The files were written by `written/zod-schemas.mjs` and
 * `written/pydantic-schemas.py`.
 */
interface Written {
  readonly versions: readonly string[];
  readonly type: string;
  readonly schema: Record<string, unknown>;
}

function readLines(name: string): Written[] {
  const text = readFileSync(new URL(`written/${name}.jsonl`, import.meta.url), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const zod = readLines('zod');
const pydantic = readLines('pydantic');
const textOf = (schema: unknown) => ({ workspaceId: 'w', schema: JSON.stringify(schema) });
const warningsOf = (schema: unknown) => schemaWarnings({ ...textOf(schema), field: 'f' });

/** Types whose patterns are beside no format. */
const warned: ReadonlySet<string> = new Set([
  ...['email and regex', 'templateLiteral email'],
  ...['decimal', 'decimal places', 'decimal bounds', 'condecimal', 'dataclass', 'str lookahead'],
]);

for (const [name, all] of Object.entries({ zod, pydantic })) {
  describe(`${name}: is a schema for an output, of variables too unless it lists a pattern`, () => {
    for (const type of new Set(all.map((one) => one.type))) {
      test(type, () => {
        for (const { versions, schema } of all.filter((one) => one.type === type)) {
          const of = `${versions}: ${JSON.stringify(schema)}`;
          assert.equal(findSchemaProblem(textOf(schema)), null, of);
          const warnings = warningsOf(schema);
          const problem = findSchemaProblem({ ...textOf(schema), strict: true });
          assert.equal(problem === null, warnings.length === 0, of);
          if (warnings.length > 0) assert.ok(warned.has(type), of);
        }
      });
    }
  });
}

test('versions from 4.0 to the newest are among them', () => {
  const minors = new Set(zod.flatMap(({ versions }) => versions.map((one) => one.slice(0, 3))));
  assert.deepEqual([...minors].sort(), ['4.0', '4.1', '4.2', '4.3', '4.4', '4.5', '4.6']);
});

const values: [type: string, good: unknown, bad: unknown][] = [
  ['email', 'ada.l@example.com', 'ada'],
  ['hostname', 'example.com', '-x-'],
  ['emoji', '🎉', 'a'],
  ['iso.duration', 'P1DT2H', '1 day'],
  ['iso.time', '10:00:00', '25:00:00'],
  ['iso.time', '10:00', 'noon'],
  ['iso.date', '2026-02-28', '2026-02-30'],
  ['iso.datetime', '2026-01-02T10:00:00Z', '2026-01-02'],
  ['iso.datetime offset', '2026-01-02T10:00:00.000', 'today'],
  ['uuid', '6f1ed002-ab5a-4a0f-8a4c-0d1b0c6b7e11', 'x'],
  ['url', 'https://example.com/a', 'no url'],
  ['ipv6', '::1', '1'],
  ['nonempty', ['a@example.com'], ['a']],
  ['record email', { 'a@example.com': 1 }, { a: 1 }],
  ['nullable', null, 'a'],
];

describe('values are checked', () => {
  for (const [type, good, bad] of values) {
    test(`${type}: ${JSON.stringify(good)}`, () => {
      for (const { versions, schema } of zod.filter((one) => one.type === type)) {
        const check = (value: unknown) => findMismatch(textOf(schema), JSON.stringify(value));
        assert.equal(check(good), null, `${versions}`);
        assert.notEqual(check(bad), null, `${versions}`);
      }
    });
  }
});

describe('a pattern that is not of RE2', () => {
  const unreadable = { type: 'string', pattern: '^(?!x)[a-z]+$' } as const;

  test('is named with its place', () => {
    const [warning] = warningsOf({ properties: { a: { items: unreadable } } });
    assert.match(
      warning ?? '',
      /^Field "f" has a pattern at \/properties\/a\/items\/pattern that is not checked, because it is not supported: use RE2/,
    );
  });

  for (const pattern of ['(?i)^(?!b)a', '(?P<n>a)(?!b)', 'a++b', '(?>a)b', '(a)\\1', '(', '[a']) {
    test(`no engine of ours reads it, so it is not checked: ${pattern}`, () => {
      const schema = textOf({ type: 'string', pattern });
      assert.equal(findSchemaProblem(schema), null);
      assert.equal(warningsOf({ pattern }).length, 1);
      assert.equal(findMismatch(schema, '"x"'), null);
      assert.notEqual(findMismatch(schema, '1'), null);
      assert.match(findSchemaProblem({ ...schema, strict: true }) ?? '', / at \/pattern: /);
    });
  }

  test('is not named beside a known format, also of an allOf, but beside another', () => {
    assert.deepEqual(warningsOf({ ...unreadable, format: 'email' }), []);
    assert.deepEqual(warningsOf({ format: 'email', allOf: [unreadable] }), []);
    assert.equal(warningsOf({ ...unreadable, format: 'x-own' }).length, 1);
    assert.equal(warningsOf({ format: 'email', properties: { a: unreadable } }).length, 1);
  });

  const matches = (schema: object, value: unknown) =>
    findMismatch(textOf(schema), JSON.stringify(value)) === null;

  test('leaves no schema that rejects what it would accept', () => {
    assert.ok(matches({ not: unreadable }, 'xa'));
    assert.ok(matches({ oneOf: [unreadable, { type: 'string', maxLength: 3 }] }, 'xa'));
    const then = Object.fromEntries([['then', { maxLength: 1 }]]);
    assert.ok(matches({ if: unreadable, ...then }, 'xaa'));
    const named = { '^(?!x)': { type: 'number' }, '^x': { type: 'string' } };
    const closed = { patternProperties: named, additionalProperties: false };
    assert.ok(matches(closed, { a: 1, x: 'y' }));
    assert.ok(!matches(closed, { x: 1 }));
  });

  test('leaves the other keywords beside it', () => {
    assert.ok(!matches({ ...unreadable, maxLength: 2 }, 'abc'));
    assert.ok(!matches({ ...unreadable, format: 'email' }, 'abc'));
  });
});
