import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { schemaDifference } from '../../../src/core/schema/schema-difference.ts';

const own = {
  type: 'object',
  properties: {
    title: { type: 'string', minLength: 1 },
    kind: { enum: ['a', 'b'] },
    size: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    parts: { type: 'array', items: { $ref: '#/$defs/Part' } },
  },
  required: ['title', 'kind'],
  additionalProperties: false,
  $defs: { Part: { type: 'object', properties: { n: { type: ['number', 'null'] } } } },
};

describe('the same but for annotations and order', () => {
  const variants: Record<string, (schema: typeof own) => object> = {
    'as Pydantic writes it': (schema) => ({
      $defs: { Part: { title: 'Part', ...schema.$defs.Part, required: [] } },
      additionalProperties: false,
      description: 'A thing.',
      properties: {
        kind: { title: 'Kind', enum: ['b', 'a'], default: 'a' },
        parts: { items: { $ref: '#/$defs/Part' }, title: 'Parts', type: 'array', examples: [[]] },
        size: { anyOf: [{ type: 'null' }, { type: 'integer' }], default: null, title: 'Size' },
        title: { minLength: 1, title: 'Title', type: 'string' },
      },
      required: ['kind', 'title'],
      title: 'Thing',
      type: 'object',
    }),
    'as Zod writes it': (schema) => ({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'thing',
      ...schema,
    }),
    'with types in another order, and what is left out by default': (schema) => ({
      ...schema,
      type: ['object'],
      $defs: {
        Part: {
          ...schema.$defs.Part,
          additionalProperties: {},
          properties: { n: { type: ['null', 'number'], readOnly: true, 'x-order': 1 } },
        },
      },
    }),
  };
  for (const [name, vary] of Object.entries(variants)) {
    test(name, () => {
      assert.equal(schemaDifference(own, vary(own)), null);
      assert.equal(schemaDifference(vary(own), own), null);
    });
  }
});

describe('what differs is named', () => {
  const { properties } = own;
  const cases: [string, object, string][] = [
    [
      'another type',
      { ...own, properties: { ...properties, title: { type: 'number', minLength: 1 } } },
      '/properties/title/type',
    ],
    [
      'a property that is missing',
      { ...own, properties: { ...properties, title: undefined } },
      '/properties/title',
    ],
    [
      'one more property',
      { ...own, properties: { ...properties, more: { type: 'null' } } },
      '/properties/more',
    ],
    ['what is required', { ...own, required: ['title'] }, '/required'],
    [
      'another value',
      { ...own, properties: { ...properties, kind: { enum: ['a', 'c'] } } },
      '/properties/kind/enum/1',
    ],
    [
      'no further bound',
      { ...own, properties: { ...properties, title: { type: 'string' } } },
      '/properties/title/minLength',
    ],
    ['further properties', { ...own, additionalProperties: true }, '/additionalProperties'],
    ['a definition', { ...own, $defs: { Part: { type: 'object' } } }, '/$defs/Part/properties'],
    [
      'a name with a slash',
      { ...own, properties: { ...properties, 'a/b': {} } },
      '/properties/a~1b',
    ],
  ];
  for (const [name, other, path] of cases) {
    test(name, () => {
      const parsed = JSON.parse(JSON.stringify(other));
      assert.equal(schemaDifference(own, parsed)?.path, path);
    });
  }

  test('a property with the name of an annotation is a property', () => {
    const titled = { type: 'object', properties: { title: { type: 'string' }, default: {} } };
    const other = { type: 'object', properties: { default: {} } };
    assert.equal(schemaDifference(titled, other)?.path, '/properties/title');
  });
});
