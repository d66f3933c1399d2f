import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { handOut, handOutVariable } from '../../harness/hand-out.ts';

const tests = join(import.meta.dirname, '..');
const folder = await mkdtemp(join(tmpdir(), 'cueline-together-'));
after(() => rm(folder, { recursive: true, force: true }));

/** What a process says that is handed these files. */
async function take(...sources: string[]) {
  const files = await Promise.all(
    sources.map(async (source, at) => {
      const file = join(folder, `${at}.mjs`);
      await writeFile(file, `import { test } from 'node:test';\n${source}\n`);
      return relative(tests, file);
    }),
  );
  const { address, end } = await handOut({
    browser: () => Promise.reject(new Error('there is none')),
    file: () => files.shift() ?? null,
  });
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const child = spawn(process.execPath, [join(tests, 'together-1.test.ts')], {
    env: { ...environment, [handOutVariable]: address },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  end();
  return { said, code, left: files.length };
}

test('what fails after a file that keeps no process alive is told', async () => {
  const { said, code, left } = await take(
    "test('quiet', () => new Promise((resolve) => setTimeout(resolve, 50).unref()));",
    "test('failing', () => { throw new Error('seen'); });",
    "test('fine', () => {});",
  );
  assert.match(said, /seen/);
  assert.match(said, /fine/);
  assert.deepEqual([code, left], [1, 0]);
});

test('what is declared while a file is loaded is a part of it', async () => {
  const { said, code, left } = await take("test('one', () => {});", "test('two', () => {});");
  assert.match(said, /one[\s\S]*two/);
  assert.deepEqual([code, left], [0, 0]);
});

test('what is left open does not keep the run from its end', async () => {
  const { said, code } = await take(
    "setInterval(() => {}, 1_000);\ntest('leaves a timer', () => {});",
    "test('fine', () => {});",
  );
  assert.match(said, /leaves a timer[\s\S]*fine/);
  assert.equal(code, 1);
});
