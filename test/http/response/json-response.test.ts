import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { jsonSlices, RawJson, toJson } from '../../../src/http/response/json-response.ts';

const sliceCharsMax = 16_384;
/** Long enough for several slices, with what JSON escapes and pairs that a slice might cut. */
const long = fc
  .tuple(
    fc.constantFrom('x', '"\\\n', '\u{1f642}', 'a\u{1f642}', '\ud83d'),
    fc.integer({ min: 1, max: 40_000 }),
  )
  .map(([text, count]) => text.repeat(count));
const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    long,
    fc.string(),
    fc.double({ noNaN: true }),
    fc.constantFrom(null, undefined, true),
    long.map((text) => new RawJson(JSON.stringify({ text }))),
    fc.constant(new RawJson('1.0')),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.string(), tie('value'), { maxKeys: 4 }),
  ),
})).value;

test('the slices of a value are its JSON, and each is short', () => {
  fc.assert(
    fc.property(value, (given) => {
      const data = { given };
      for (let reader = 0; reader < 2; reader++) {
        const slices = [...jsonSlices(data, 'data: ', '\n\n')];
        assert.equal(slices.join(''), `data: ${toJson(data)}\n\n`);
        // A character takes up to six in JSON.
        assert.ok(slices.every(({ length }) => length < 7 * sliceCharsMax + 20));
        assert.ok(slices.every((slice) => slice.isWellFormed()));
      }
    }),
    { numRuns: 200 },
  );
});
