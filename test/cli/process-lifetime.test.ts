import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';

const lifetime = new URL('../../src/cli/process-lifetime.ts', import.meta.url).href;

test('a shutdown request runs the closers in reverse order and exits with 0', async (t) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const child = lived(t, {
      run: `async (lifetime) => {
        lifetime.closers.defer(async () => say('first'));
        lifetime.closers.defer(async () => say('last'));
        say('up');
        await untilStopping(lifetime);
        say('told');
      }`,
    });
    await child.heard('up');
    child.process.kill(signal);
    assert.equal(await child.exit, 0);
    assert.deepEqual(child.lines, ['up', 'told', 'last', 'first']);
  }
});

test('a repeated signal counts once', async (t) => {
  const child = lived(t, { run: slowEnd, repeatMs: 3_600_000 });
  await child.heard('up');
  child.process.kill('SIGTERM');
  await child.heard('closing');
  child.process.kill('SIGTERM');
  child.process.kill('SIGINT');
  // The highest signal number is delivered after the other two.
  child.process.kill('SIGWINCH');
  assert.equal(await child.exit, 0);
  assert.deepEqual(child.lines, ['up', 'closing', 'closed']);
});

test('a later second signal exits immediately', async (t) => {
  const child = lived(t, { run: slowEnd, repeatMs: 0 });
  await child.heard('up');
  child.process.kill('SIGTERM');
  await child.heard('closing');
  child.process.kill('SIGTERM');
  assert.equal(await child.exit, 1);
  assert.deepEqual(child.lines, ['up', 'closing']);
});

test('SIGHUP stops a process with a terminal and is ignored without one', async (t) => {
  const run = `async (lifetime) => {
    lifetime.closers.defer(async () => say('undone'));
    say(process.pid);
    say('up');
    await untilStopping(lifetime);
    say(lifetime.stopping.reason.message);
  }`;
  const bare = lived(t, { run });
  await bare.heard('up');
  bare.process.kill('SIGHUP');
  bare.process.kill('SIGTERM');
  assert.equal(await bare.exit, 0);
  assert.deepEqual(bare.lines.slice(1), ['up', 'stopped by SIGTERM', 'undone']);

  const shown = lived(t, { run, onTerminal: true });
  await shown.heard('up');
  process.kill(Number(shown.lines[0]), 'SIGHUP');
  assert.equal(await shown.exit, 0);
  assert.deepEqual(shown.lines.slice(1), ['up', 'stopped by SIGHUP', 'undone']);
});

test('a shutdown that hangs is forced', async (t) => {
  const child = lived(t, { run: slowEnd, shutdownMsMax: 1 });
  await child.heard('up');
  child.process.kill('SIGTERM');
  assert.equal(await child.exit, 1);
});

test('a failure is reported, the closers run, and the exit code is 1', async (t) => {
  const child = lived(t, {
    run: `async (lifetime) => {
      lifetime.closers.defer(async () => say('undone'));
      throw new Error('broken');
    }`,
  });
  assert.equal(await child.exit, 1);
  assert.deepEqual(child.lines, ['error broken', 'undone']);
});

test('work aborted by a signal is neither a failure nor a success', async (t) => {
  const child = lived(t, {
    run: `async (lifetime) => {
      lifetime.closers.defer(async () => say('undone'));
      say('up');
      await untilStopping(lifetime);
      lifetime.stopping.throwIfAborted();
    }`,
  });
  await child.heard('up');
  child.process.kill('SIGINT');
  assert.equal(await child.exit, 130);
  assert.deepEqual(child.lines, ['up', 'undone']);
});

test('a finished command exits by itself', async (t) => {
  const child = lived(t, { run: `async (lifetime) => say('done')` });
  assert.equal(await child.exit, 0);
  assert.deepEqual(child.lines, ['done']);
});

/** Closes only after SIGWINCH. */
const slowEnd = `async (lifetime) => {
  lifetime.closers.defer(async () => {
    const go = new Promise((resolve) => process.once('SIGWINCH', resolve));
    const alive = setInterval(() => {}, 1000);
    say('closing');
    await go;
    clearInterval(alive);
    say('closed');
  });
  say('up');
  await untilStopping(lifetime);
}`;

interface Lived {
  readonly process: ChildProcess;
  readonly lines: string[];
  readonly exit: Promise<number | null>;
  /** Resolves once the process has printed this line. */
  heard(line: string): Promise<void>;
}

interface How {
  readonly run: string;
  readonly shutdownMsMax?: number;
  readonly repeatMs?: number;
  /** With standard error elsewhere. */
  readonly onTerminal?: boolean;
}

/** Starts a process with this `run`. */
function lived(t: TestContext, how: How): Lived {
  const { run, shutdownMsMax = 3_600_000, repeatMs = 3_600_000 } = how;
  const source = `
    import { writeSync } from 'node:fs';
    import { runWithLifetime, untilStopping } from ${JSON.stringify(lifetime)};
    const say = (line) => writeSync(1, line + '\\n');
    const alive = setInterval(() => {}, 1000);
    process.exit(await runWithLifetime(${run}, {
      shutdownMsMax: ${shutdownMsMax},
      repeatMs: ${repeatMs},
      onMessage: () => {},
      onError: (error) => say('error ' + error.message),
    }));`;
  const node = [process.execPath, '--input-type=module', '-e', source] as const;
  const quoted = node.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  const [program, ...args] = how.onTerminal
    ? (['script', '-qec', `exec ${quoted} 2>/dev/null`, '/dev/null'] as const)
    : node;
  // Never uses the terminal of the test runner.
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stderr.pipe(process.stderr);
  t.after(() => child.kill('SIGKILL'));
  const lines: string[] = [];
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    lines.splice(0, lines.length, ...text.split(/\r?\n/).slice(0, -1));
  });
  return {
    process: child,
    lines,
    exit: once(child, 'close').then(([code]) => code),
    async heard(line) {
      while (!lines.includes(line)) await once(child.stdout, 'data');
    },
  };
}
