import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { deriveSealKey, seal, unseal } from '../../src/core/seal.ts';

const key = deriveSealKey('a secret');
const text = fc.string({ unit: 'grapheme', maxLength: 300 });

test('unseals with the same owner and key', () => {
  fc.assert(
    fc.property(text, fc.string(), (secret, owner) => {
      assert.equal(unseal(key, seal(key, secret, owner), owner), secret);
    }),
  );
});

test('does not unseal with another owner or key', () => {
  fc.assert(
    fc.property(text, fc.string(), fc.string(), (secret, owner, other) => {
      fc.pre(owner !== other);
      const sealed = seal(key, secret, owner);
      assert.throws(() => unseal(key, sealed, other));
      assert.throws(() => unseal(deriveSealKey('another secret'), sealed, owner));
    }),
  );
});

test('detects a flipped bit and a truncation', () => {
  fc.assert(
    fc.property(text, fc.nat(), (secret, position) => {
      const sealed = seal(key, secret, 'owner');
      const flipped = Buffer.from(sealed);
      const bit = position % (flipped.length * 8);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.throws(() => unseal(key, flipped, 'owner'));
      assert.throws(() => unseal(key, sealed.subarray(0, position % sealed.length), 'owner'));
    }),
  );
});

test('the same text is sealed differently each time and is not readable', () => {
  const sealed = Array.from({ length: 50 }, () => seal(key, 'sk-a-credential', 'owner'));
  assert.equal(new Set(sealed.map((one) => one.toString('hex'))).size, 50);
  for (const one of sealed) assert.ok(!one.includes('credential'));
});

test('a secret always derives the same 256-bit key', () => {
  assert.equal(key.length, 32);
  assert.deepEqual(deriveSealKey('a secret'), key);
});
