import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { deriveSealKey, seal, unseal } from '../../src/core/seal.ts';

const key = deriveSealKey('a secret');
const text = fc.string({ unit: 'grapheme', maxLength: 300 });

test('what was sealed opens, for its owner and with its key', () => {
  fc.assert(
    fc.property(text, fc.string(), (secret, owner) => {
      assert.equal(unseal(key, seal(key, secret, owner), owner), secret);
    }),
  );
});

test('it opens for no other owner and with no other key', () => {
  fc.assert(
    fc.property(text, fc.string(), fc.string(), (secret, owner, other) => {
      fc.pre(owner !== other);
      const sealed = seal(key, secret, owner);
      assert.throws(() => unseal(key, sealed, other));
      assert.throws(() => unseal(deriveSealKey('another secret'), sealed, owner));
    }),
  );
});

test('a single bit that changed, or an end that is missing, is seen', () => {
  fc.assert(
    fc.property(text, fc.nat(), (secret, place) => {
      const sealed = seal(key, secret, 'owner');
      const bent = Buffer.from(sealed);
      const bit = place % (bent.length * 8);
      bent[bit >> 3] = (bent[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.throws(() => unseal(key, bent, 'owner'));
      assert.throws(() => unseal(key, sealed.subarray(0, place % sealed.length), 'owner'));
    }),
  );
});

test('the same text never looks the same twice, and never shows', () => {
  const sealed = Array.from({ length: 50 }, () => seal(key, 'sk-a-credential', 'owner'));
  assert.equal(new Set(sealed.map((one) => one.toString('hex'))).size, 50);
  for (const one of sealed) assert.ok(!one.includes('credential'));
});

test('the same secret always gives the same key, of 256 bits', () => {
  assert.equal(key.length, 32);
  assert.deepEqual(deriveSealKey('a secret'), key);
});
