import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { inherited } from '../../../harness/environment.ts';

const main = join(import.meta.dirname, '..', '..', '..', 'src', 'main.ts');

test('a server process restarts without the memory reducer, keeping its pid and flags', () => {
  for (const role of ['start', 'api', 'worker']) {
    const [first, second, ...more] = beginnings(['--stack-size=900'], role);
    assert.ok(first && second && more.length === 0, `${role} begins twice`);
    assert.equal(second.pid, first.pid);
    assert.deepEqual(second.flags, ['--no-memory-reducer', ...first.flags]);
    assert.ok(first.flags.includes('--stack-size=900'));
  }
});

test('a client command and a server with an explicit flag do not restart', () => {
  assert.equal(beginnings([], 'migrate').length, 1);
  for (const flag of ['--memory-reducer', '--no-memory-reducer']) {
    assert.equal(beginnings([flag], 'start').length, 1);
  }
});

/** Process id and flags at each start of the process. */
function beginnings(flags: readonly string[], command: string): { pid: number; flags: string[] }[] {
  const say = 'console.error(JSON.stringify({ pid: process.pid, flags: process.execArgv }))';
  const output = spawnSync(
    process.execPath,
    [...flags, '--import', `data:text/javascript,${say}`, main, command, '--help'],
    { env: inherited(), encoding: 'utf8' },
  );
  assert.match(output.stdout, new RegExp(`Usage: cueline ${command}`));
  return output.stderr
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}
