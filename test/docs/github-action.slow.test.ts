import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { startService } from '../../harness/service.ts';

/** Installs as action.yml does: its command leaves packages out, and what is left must run the commands. */

const root = join(import.meta.dirname, '../..');
const service = await startService();
const copy = mkdtempSync(join(tmpdir(), 'cueline-action-'));
after(async () => {
  rmSync(copy, { recursive: true });
  await service.close();
});

const run = promisify(execFile);

test('what the action installs runs its commands', async () => {
  for (const part of ['package.json', 'package-lock.json', 'action.yml', 'deploy', 'src', 'docs']) {
    cpSync(join(root, part), join(copy, part), { recursive: true });
  }
  const { steps } = parse(readFileSync(join(copy, 'action.yml'), 'utf8')).runs;
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
  // With the settings of npm of this machine, such as a registry.
  const env = { ...process.env, PATH, GITHUB_ACTION_PATH: copy, NODE_OPTIONS: '' };
  await run('bash', ['-eo', 'pipefail', '-c', steps[1].run], { cwd: copy, env });
  const version = { label: 'v1', user: 'Hello {{name}}', model: 'cueline/echo' };
  const declaration = { prompts: [{ name: 'Greeting', versions: [version] }] };
  writeFileSync(join(copy, 'cueline.yaml'), JSON.stringify(declaration));
  const { key } = await service.key();
  const { stdout } = await run(process.execPath, ['src/main.ts', 'diff', 'cueline.yaml'], {
    cwd: copy,
    env: { PATH, CUELINE_URL: service.url, CUELINE_KEY: key },
  });
  assert.match(stdout, /^\+ prompt Greeting$/m);
});
