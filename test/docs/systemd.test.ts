import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

/** `deploy/cueline.service`, as far as it can be read without a running systemd. */

const path = join(import.meta.dirname, '../../deploy/cueline.service');
const analyze = (...args: string[]) => spawnSync('systemd-analyze', args, { encoding: 'utf8' });
const skip =
  analyze('--version').error && 'systemd-analyze is not installed: apt-get install systemd';

test('the unit limits memory and processes, and V8 may compile', () => {
  const unit = readFileSync(path, 'utf8');
  for (const line of [/^MemoryMax=/m, /^TasksMax=/m, /^NoNewPrivileges=yes$/m]) {
    assert.match(unit, line);
  }
  assert.doesNotMatch(unit, /^MemoryDenyWriteExecute=/m);
});

test('systemd rates the exposure of the unit below 2', { skip }, () => {
  const { status, stdout, stderr } = analyze('security', '--offline=true', '--threshold=19', path);
  assert.match(stdout, /Overall exposure level for cueline\.service: [01]\.\d/);
  assert.equal(status, 0, stderr);
});
