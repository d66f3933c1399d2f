import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { floatToUnits, toDecimal, toUnits } from '../../src/core/decimal.ts';

const one = 10n ** 24n;

describe('a decimal', () => {
  for (const [text, units] of [
    ['0', 0n],
    ['1', one],
    ['0.15', (15n * one) / 100n],
    ['007.50', (15n * one) / 2n],
    ['0.000000000000000000000001', 1n],
    ['999999999999', 999_999_999_999n * one],
  ] as const) {
    test(`${text} is exact`, () => assert.equal(toUnits(text), units));
  }

  for (const text of [
    '',
    '.5',
    '5.',
    '-1',
    '+1',
    '1e3',
    ' 1',
    '1,5',
    'NaN',
    '0x1',
    '1'.repeat(13),
  ]) {
    test(`'${text}' is rejected`, () => assert.equal(toUnits(text), null));
  }
  test('more than 24 places are rejected', () =>
    assert.equal(toUnits(`0.${'1'.repeat(25)}`), null));
});

describe('a float in a price list', () => {
  for (const [value, text] of [
    [0.1, '0.1'],
    [0.075, '0.075'],
    [1.25, '1.25'],
    [3, '3'],
    [0.000_000_1, '0.0000001'],
    [1.5e-7, '0.00000015'],
    [1e-24, '0.000000000000000000000001'],
  ] as const) {
    test(`${value} converts to its shortest decimal`, () =>
      assert.equal(floatToUnits(value), toUnits(text)));
  }
  for (const value of [Number.NaN, Infinity, -1, 1e21, 1.5e-24, 1e-30]) {
    test(`${value} is rejected`, () => assert.equal(floatToUnits(value), null));
  }
});

describe('formatting units', () => {
  for (const [units, divisor, text] of [
    [0n, 1n, '0'],
    [one, 1n, '1'],
    [one, 1_000_000n, '0.000001'],
    [one * 15n, 10n, '1.5'],
    [one * 49_999_999_999n, 10n ** 21n, '0'],
    [one * 50_000_000_000n, 10n ** 21n, '0.0000000001'],
    [one * 149_999_999_999n, 10n ** 21n, '0.0000000001'],
    [one * 150_000_000_000n, 10n ** 21n, '0.0000000002'],
    [one * 2n, 3n, '0.6666666667'],
    [one, 3n, '0.3333333333'],
    [one * 1_000n, 1n, '1000'],
  ] as const) {
    test(`${units} / ${divisor} is ${text}`, () =>
      assert.equal(toDecimal(units, divisor, 10), text));
  }

  test('a value with 10 places round-trips', () => {
    const amount = fc.bigInt({ min: 0n, max: 10n ** 20n });
    fc.assert(
      fc.property(amount, (tenths) => {
        const text = toDecimal(tenths * 10n ** 14n, 1n, 10);
        return toUnits(text) === tenths * 10n ** 14n && !/\.\d*0$/.test(text);
      }),
    );
  });

  test('rounds to at most half a unit in the last place', () => {
    const units = fc.bigInt({ min: 0n, max: 10n ** 40n });
    const divisor = fc.bigInt({ min: 1n, max: 10n ** 9n });
    fc.assert(
      fc.property(units, divisor, (a, b) => {
        const back = (toUnits(toDecimal(a, b, 10)) ?? 0n) * b;
        const off = back > a ? back - a : a - back;
        return a / b >= 10n ** 36n || off * 2n <= b * 10n ** 14n;
      }),
    );
  });
});
