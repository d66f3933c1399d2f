import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { neverRepeated, repeatFailed } from '../../harness/repeat-failed.ts';

const root = join(import.meta.dirname, '../..');
const folder = await mkdtemp(join(tmpdir(), 'cueline-unlucky-'));
after(() => rm(folder, { recursive: true }));

/** Runs the file that fails once, as `npm test` would. */
async function runUnlucky(name: string, env: Record<string, string>) {
  // Otherwise Node's runner takes the child for one of its own.
  const { NODE_TEST_CONTEXT: _, CI: __, ...inherited } = process.env;
  const child = spawn(
    process.execPath,
    ['harness/run-tests.ts', 'test/harness/fixtures/unlucky.fixture.ts'],
    { cwd: root, env: { ...inherited, UNLUCKY_MARKER: join(folder, name), ...env } },
  );
  const exit = new Promise((resolve) => child.on('exit', resolve));
  const [code, output] = await Promise.all([exit, text(child.stdout)]);
  return { code, output };
}

test('in CI, a file that fails once is repeated and named in the last lines', async () => {
  const { code, output } = await runUnlucky('ci', { CI: 'true' });
  assert.equal(code, 0, output);
  const last = 'flaky: test/harness/fixtures/unlucky.fixture.ts > is unlucky once';
  assert.equal(output.trimEnd().split('\n').at(-1), last);
  assert.match(output, /Expected values to be strictly equal/);
});

test('elsewhere nothing is repeated', async () => {
  const { code, output } = await runUnlucky('elsewhere', {});
  assert.equal(code, 1, output);
  assert.doesNotMatch(output, /flaky/);
});

test('tests of limits, claims and crashes, and more than two files, are not repeated', async () => {
  const { signal } = new AbortController();
  const refused = { passed: false, flaky: [] };
  for (const file of ['test/worker/lease.test.ts', 'test/proof/claims.test.ts']) {
    assert.deepEqual(await repeatFailed(new Map([[file, ['a test']]]), signal), refused);
  }
  const three = new Map(['a', 'b', 'c'].map((name) => [`test/${name}.test.ts`, [name]]));
  assert.deepEqual(await repeatFailed(three, signal), refused);
});

test('each kind of test that is never repeated exists', () => {
  const files = globSync('test/**/*.test.ts', { cwd: root });
  for (const pattern of neverRepeated) assert.ok(files.some((file) => pattern.test(file)));
});
