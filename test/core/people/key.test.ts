import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { generateKey, hashKey, isKey, keyStart } from '../../../src/core/people/key.ts';

const key = fc.constant(null).map(generateKey);
const letter = fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz');

test('keys are well-formed and unique', () => {
  const keys = Array.from({ length: 200 }, generateKey);
  for (const one of keys) {
    assert.match(one, /^cue_[0-9A-Za-z]{36}$/);
    assert.ok(isKey(one));
  }
  assert.equal(new Set(keys).size, keys.length);
});

test('all 62 characters are used', () => {
  const used = new Set(Array.from({ length: 200 }, () => generateKey().slice(4, 34)).join(''));
  assert.equal(used.size, 62);
});

test('one wrong character is detected at any position', () => {
  fc.assert(
    fc.property(key, fc.integer({ min: 4, max: 39 }), letter, (one, at, other) => {
      fc.pre(one[at] !== other);
      assert.equal(isKey(one.slice(0, at) + other + one.slice(at + 1)), false);
    }),
  );
});

test('two swapped adjacent characters are detected', () => {
  fc.assert(
    fc.property(key, fc.integer({ min: 4, max: 38 }), (one, at) => {
      const [a = '', b = ''] = one.slice(at, at + 2);
      fc.pre(a !== b);
      assert.equal(isKey(one.slice(0, at) + b + a + one.slice(at + 2)), false);
    }),
  );
});

test('no other text is a key', () => {
  fc.assert(fc.property(fc.string(), (text) => assert.equal(isKey(text), false)));
  const one = generateKey();
  for (const text of [` ${one}`, `${one}\n`, `${one}0`, one.slice(1), one.toUpperCase(), '']) {
    assert.equal(isKey(text), false);
  }
});

test('the hash distinguishes keys without revealing them; the start shows six of 36 characters', () => {
  const one = generateKey();
  assert.match(hashKey(one), /^[0-9a-f]{64}$/);
  assert.equal(hashKey(one), hashKey(one));
  assert.notEqual(hashKey(one), hashKey(generateKey()));
  assert.equal(keyStart(one), one.slice(0, 10));
});
