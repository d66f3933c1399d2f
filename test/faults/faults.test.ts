import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { faults, faultySource } from './faults.ts';
import { problemWithoutFault, verdictOf } from './verdict.ts';

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
    assert.notEqual(faultySource(fault), source, fault.name);
  }
});

test('only an assertion beside a test that passes finds a fault', () => {
  const failure = { file: 'a.test.ts', test: 'adds', message: '1 !== 2', asserted: true };
  const thrown = { ...failure, test: 'a.test.ts', message: 'test failed', asserted: false };
  const found = { foundBy: 'a.test.ts > adds' };
  assert.deepEqual(verdictOf({ passed: 1, failures: [thrown, failure] }), found);
  for (const results of [
    { passed: 3, failures: [] },
    { passed: 3, failures: [thrown] },
    { passed: 0, failures: [failure] },
  ]) {
    assert.ok('problem' in verdictOf(results));
  }
  assert.equal(problemWithoutFault({ passed: 1, failures: [] }), null);
  assert.ok(problemWithoutFault({ passed: 1, failures: [failure] }));
  assert.ok(problemWithoutFault({ passed: 0, failures: [] }));
});
