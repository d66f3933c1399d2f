import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { claims } from '../../proof/claims.ts';
import { applyFault } from '../../proof/fault.ts';

/** `npm run proof -- --faults` checks that each fault is found; that takes longer. */

const src = join(import.meta.dirname, '../../src');

test('every claim has faults, and each fault finds its source lines', () => {
  for (const { name, faults } of claims) {
    assert.ok(faults.length > 0, name);
    for (const fault of faults) {
      const source = readFileSync(join(src, fault.file), 'utf8');
      assert.notEqual(applyFault(fault, source), source);
    }
  }
});
