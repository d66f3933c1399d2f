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

const fixture = (name: string) => `test/harness/fixtures/${name}.fixture.ts`;

/** Runs files as `npm test` would; those of bad luck fail once under each name. */
async function runUnlucky(name: string, env: Record<string, string>, files = [fixture('unlucky')]) {
  // Otherwise Node's runner takes the child for one of its own.
  const { NODE_TEST_CONTEXT: _, CI: __, ...inherited } = process.env;
  const child = spawn(process.execPath, ['harness/run-tests.ts', ...files], {
    ...{ cwd: root, env: { ...inherited, UNLUCKY_MARKER: join(folder, name), ...env } },
  });
  const exit = new Promise((resolve) => child.on('exit', resolve));
  const [code, output, errors] = await Promise.all([exit, text(child.stdout), text(child.stderr)]);
  return { code, output, errors };
}

test('in CI, a file that fails once is repeated and named in the last lines', async () => {
  const { code, output } = await runUnlucky('ci', { CI: 'true' });
  assert.equal(code, 0, output);
  const last = 'flaky: test/harness/fixtures/unlucky.fixture.ts > is unlucky once';
  assert.equal(output.trimEnd().split('\n').at(-1), last);
  assert.match(output, /Expected values to be strictly equal/);
});

test('a failure outside the tests of a file is named too', async () => {
  const files = [fixture('unlucky-hook')];
  const { code, output } = await runUnlucky('hook', { CI: 'true' }, files);
  assert.equal(code, 0, output);
  assert.ok(output.endsWith(`\nflaky: ${files[0]} > (outside its tests)\n`), output);
});

test('what no file answers for fails the run, also beside a failed file', async () => {
  const files = [fixture('unlucky'), fixture('open')];
  const { code, output } = await runUnlucky('open', { CI: 'true' }, files);
  assert.equal(code, 1, output);
  assert.doesNotMatch(output, /repeated|flaky/);
});

test('a pattern without a file is an error', async () => {
  const missing = 'test/none/*.test.ts';
  const { code, errors } = await runUnlucky('none', {}, [fixture('unlucky'), missing]);
  assert.equal(code, 1);
  assert.match(errors, /No test file matches test\/none/);
});

test('elsewhere nothing is repeated', async () => {
  const { code, output } = await runUnlucky('elsewhere', {});
  assert.equal(code, 1, output);
  assert.doesNotMatch(output, /flaky/);
});

test('tests of limits, claims and crashes, and more than two files, are not repeated', async () => {
  const { signal } = new AbortController();
  const refused = { passed: false, flaky: [] };
  const guarded: (readonly [file: string, names: readonly string[]])[] = [
    ['test/engine/run/queue.test.ts', []],
    ['test/proof/claims.test.ts', ['a test']],
    ['test/a.test.ts', ['the same Idempotency-Key and input start one workflow run']],
    ['test/a.test.ts', ['leases expire if PostgreSQL itself started in the future']],
  ];
  for (const one of guarded) assert.deepEqual(await repeatFailed(new Map([one]), signal), refused);
  const three = new Map(['a', 'b', 'c'].map((name) => [`test/${name}.test.ts`, [name]]));
  assert.deepEqual(await repeatFailed(three, signal), refused);
});

test('each kind of test that is never repeated exists', () => {
  const files = globSync('test/**/*.test.ts', { cwd: root });
  for (const pattern of neverRepeated) assert.ok(files.some((file) => pattern.test(file)));
});
