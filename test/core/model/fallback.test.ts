import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fallbackModel } from '../../../src/core/agent/fallback.ts';

const models = ['a/one', 'b/two', 'c/three'];
const limited = (waitMs: number) => ({ code: 'PROVIDER_RATE_LIMITED', waitMs }) as const;

test('by default a wait for a rate limit of up to half a minute is waited out', () => {
  assert.equal(fallbackModel({ models }, 'a/one', limited(30_000)), null);
  assert.equal(fallbackModel({ models }, 'a/one', limited(30_001)), 'b/two');
});

test('a rate limit that fallbackOn names is not waited out', () => {
  const settings = { models, fallbackOn: ['PROVIDER_RATE_LIMITED' as const] };
  assert.equal(fallbackModel(settings, 'b/two', limited(0)), 'c/three');
});

test('nothing follows the last model', () => {
  assert.equal(fallbackModel({ models }, 'c/three', limited(60_000)), null);
});
