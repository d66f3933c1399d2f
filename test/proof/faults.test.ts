import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { claims } from '../../proof/claims.ts';
import { applyFault } from '../../proof/fault.ts';

/** That each is found takes longer: `npm run proof -- --faults`. */

const src = join(import.meta.dirname, '../../src');

test('every claim has faults, and the place of each stands where the fault looks for it', () => {
  for (const { name, faults } of claims) {
    assert.ok(faults.length > 0, name);
    for (const fault of faults) {
      const source = readFileSync(join(src, fault.file), 'utf8');
      assert.notEqual(applyFault(fault, source), source);
    }
  }
});
