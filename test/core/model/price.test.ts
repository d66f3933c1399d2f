import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { priceText } from '../../../src/core/model/price.ts';

const max = 1_000_000;
const cases: [string | number, string | null][] = [
  ['2.50', '2.50'],
  ['0', '0'],
  ['0.000000000001', '0.000000000001'],
  ['1000000', '1000000'],
  ['1000000.000000000000', '1000000.000000000000'],
  ['1000000.000000000001', null],
  ['9999999', null],
  ['0.0000000000001', null],
  ['', null],
  ['.5', null],
  ['5.', null],
  ['-1', null],
  ['1e3', null],
  [' 1', null],
  ['Infinity', null],
  [2.5, '2.5'],
  [0.1, '0.1'],
  [1e-7, '0.0000001'],
  [1.25e-7, '0.000000125'],
  [1e-12, '0.000000000001'],
  [1e-13, null],
  [0.1 + 0.2, null],
  [-0, '0'],
  [-1, null],
  [1_000_000, '1000000'],
  [1_000_000.5, null],
  [1e21, null],
  [Number.NaN, null],
];
for (const [amount, expected] of cases) {
  test(`${typeof amount} ${JSON.stringify(amount)} is ${expected ?? 'rejected'}`, () => {
    assert.equal(priceText(amount, max), expected);
  });
}

test('a text is unchanged', () => {
  const decimal = fc
    .tuple(fc.nat(999_999), fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 12 }))
    .map(([whole, fraction]) => (fraction ? `${whole}.${fraction}` : `${whole}`));
  fc.assert(fc.property(decimal, (text) => assert.equal(priceText(text, max), text)));
});

test('a number converts to a text that parses to the same number, or is rejected', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max, noNaN: true }), (amount) => {
      const text = priceText(amount, max);
      if (text !== null) assert.equal(Number(text), amount);
    }),
  );
});
