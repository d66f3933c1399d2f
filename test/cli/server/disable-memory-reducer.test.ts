import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { inherited } from '../../../harness/environment.ts';

const main = join(import.meta.dirname, '..', '..', '..', 'src', 'main.ts');

test('a process that serves begins again so as to keep its memory, under its pid and with its flags', () => {
  for (const role of ['start', 'api', 'worker']) {
    const [first, second, ...more] = beginnings(['--stack-size=900'], role);
    assert.ok(first && second && more.length === 0, `${role} begins twice`);
    assert.equal(second.pid, first.pid);
    assert.deepEqual(second.flags, ['--no-memory-reducer', ...first.flags]);
    assert.ok(first.flags.includes('--stack-size=900'));
  }
});

test('a command begins once, and so does a server that is told what to do with its memory', () => {
  assert.equal(beginnings([], 'migrate').length, 1);
  for (const flag of ['--memory-reducer', '--no-memory-reducer']) {
    assert.equal(beginnings([flag], 'start').length, 1);
  }
});

/** Each time that the process begins, it says as which one and with which flags. */
function beginnings(flags: readonly string[], command: string): { pid: number; flags: string[] }[] {
  const say = 'console.error(JSON.stringify({ pid: process.pid, flags: process.execArgv }))';
  const said = spawnSync(
    process.execPath,
    [...flags, '--import', `data:text/javascript,${say}`, main, command, '--help'],
    { env: inherited(), encoding: 'utf8' },
  );
  assert.match(said.stdout, new RegExp(`Usage: cueline ${command}`));
  return said.stderr
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}
