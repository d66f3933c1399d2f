import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { claims } from '../../proof/claims.ts';
import { applyFault } from '../../proof/fault.ts';

const src = join(import.meta.dirname, '../../src');

test('every claim has faults with unique names, and each fault matches its source', () => {
  const names = claims.flatMap(({ faults }) => faults.map(({ name }) => name));
  assert.deepEqual(names, [...new Set(names)]);
  for (const { name, faults } of claims) {
    assert.ok(faults.length > 0, name);
    for (const fault of faults) {
      const source = readFileSync(join(src, fault.file), 'utf8');
      assert.notEqual(applyFault(fault, source), source);
    }
  }
});
