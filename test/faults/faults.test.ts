import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { applyFault } from '../../proof/fault.ts';
import { faults } from './faults.ts';

const root = join(import.meta.dirname, '../..');

test('deliberate faults have unique names, and test files that exist', () => {
  const names = faults.map(({ name }) => name);
  assert.deepEqual(names, [...new Set(names)]);
  for (const { name, tests } of faults) {
    assert.ok(tests.length > 0, name);
    for (const file of tests) assert.ok(existsSync(join(root, file)), `${name}: ${file}`);
  }
});

test('each deliberate fault matches its source exactly once', () => {
  for (const fault of faults) {
    const source = readFileSync(join(root, 'src', fault.file), 'utf8');
    assert.notEqual(applyFault(fault, source), source, fault.name);
  }
});
