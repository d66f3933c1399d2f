import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultLabel } from '../../../src/core/agent/version-label.ts';

test('the default label is the version number, with the first free suffix if it is taken', () => {
  const cases: [number, string[], string][] = [
    [1, [], 'v1'],
    [2, ['v1', 'v20', 'V2', 'v2-2'], 'v2'],
    [2, ['v2'], 'v2-2'],
    [3, ['v3-2', 'v3', 'v3-4'], 'v3-3'],
  ];
  for (const [number, taken, label] of cases) {
    assert.equal(defaultLabel(number, new Set(taken)), label);
  }
});
