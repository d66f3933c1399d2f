import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseLeniently, readLeniently } from '../../../src/models/response/lenient-json.ts';

const bodies: [body: string, value: unknown][] = [
  ['{"a":"{"}\n<!-- cache: miss -->', { a: '{' }],
  ['{"a":NaN} trailing', { a: null }],
  ['[{"a":NaN}]', [{ a: null }]],
  ['{"a":[1,2,\n],"b":",}",}', { a: [1, 2], b: ',}' }],
  ['{"a":[,]}', { a: [] }],
  ['{"a":1,,}', undefined],
  ['{"a":1}\n{"a":2}', undefined],
  ['{"a":1},"b":2', undefined],
  ['{"a":1}]', undefined],
  ['{"a":{"b":1}', undefined],
  ['{"a":[NaN', undefined],
  ['not JSON {"a":1}', undefined],
];

for (const [body, value] of bodies) {
  test(`reads ${JSON.stringify(body)} as ${JSON.stringify(value)}`, () => {
    assert.deepEqual(readLeniently(body), value);
  });
}

test('one line of a longer text is not read as an object', () => {
  assert.equal(parseLeniently('{"a":1},'), undefined);
});
