import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';

test('a full disk or a stalled reader costs log lines and nothing else', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'log-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'log');
  // A file at its size limit is a full disk that can be freed again.
  assert.deepEqual(await logging(openSync(file, 'a'), file), { code: 7, stdout: 'alive' });
  assert.equal(JSON.parse(readFileSync(file, 'utf8')).msg, 'space again');
  assert.deepEqual(await logging(openSync('/dev/full', 'a')), { code: 7, stdout: 'alive' });
  assert.deepEqual(await logging('pipe'), { code: 7, stdout: 'alive' });
});

/** The exit of a process that logs more to standard error than fits. */
async function logging(stderr: number | 'pipe', truncated?: string) {
  const source = `
    import { truncateSync, writeSync } from 'node:fs';
    import { setImmediate as nextTick } from 'node:timers/promises';
    import { createLogger } from ${JSON.stringify(new URL('../src/process/log.ts', import.meta.url).href)};
    const log = createLogger({ level: 'info' });
    for (let line = 0; line < 100; line++) {
      log.info('x'.repeat(10_000));
      await nextTick();
    }
    const truncated = ${JSON.stringify(truncated ?? null)};
    if (truncated) truncateSync(truncated);
    log.info('space again');
    writeSync(1, 'alive');
    process.exit(7);`;
  const node = [process.execPath, '--input-type=module', '-e', source];
  const child = spawn('/bin/sh', ['-c', 'ulimit -f 64; exec "$@"', 'sh', ...node], {
    stdio: ['ignore', 'pipe', stderr],
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  const [[code], stdout] = await Promise.all([once(child, 'exit'), text(child.stdout as Readable)]);
  return { code, stdout };
}

test('the last lines reach a reader that starts late', async (t) => {
  const command = new URL('../src/cli/command.ts', import.meta.url).href;
  const failure = new URL('../src/core/startup-failure.ts', import.meta.url).href;
  const program = (last: string) => `
    import { runCommand } from ${JSON.stringify(command)};
    import { StartupFailure } from ${JSON.stringify(failure)};
    await runCommand(async ({ log }) => {
      for (let line = 0; line < 5_000; line++) log.warn('x'.repeat(200));
      ${last}
    });`;
  const lasts = [
    "throw new StartupFailure('the reason');",
    "await new Promise(() => setImmediate(() => { throw new Error('the reason'); }));",
  ];
  const folder = mkdtempSync(join(tmpdir(), 'log-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const last of lasts) {
    const file = join(folder, 'log');
    // A process of its own reads: here, other tests would delay it for longer than the last lines wait.
    const shell =
      '{ "$@" 2>&1 >/dev/null; echo "exit $?"; } | { read -r first; echo "$first"; cat; } >"$0"';
    const node = [process.execPath, '--input-type=module', '-e', program(last)];
    const child = spawn('/bin/sh', ['-c', shell, file, ...node], { stdio: 'ignore' });
    await once(child, 'exit');
    const stderr = readFileSync(file, 'utf8');
    assert.match(stderr, /^exit 1$/m);
    assert.equal(stderr.split('\n').filter((line) => line.includes('xxx')).length, 5_000);
    assert.match(stderr, /the reason/);
  }
});
