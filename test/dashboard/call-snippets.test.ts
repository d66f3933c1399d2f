import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import {
  curlOf,
  keyVariable,
  pythonOf,
  typeScriptOf,
} from '../../dashboard/data/text/call-snippets.ts';
import { addAgent } from '../../harness/agents.ts';
import { startService } from '../../harness/service.ts';

/** What the page and the documentation offer to be pasted, pasted into a folder that has nothing else. */

const service = await startService();
after(service.close);
const folder = await mkdtemp(join(tmpdir(), 'cueline-snippets-'));
after(() => rm(folder, { recursive: true }));
const root = join(import.meta.dirname, '../..');
const { key } = await service.key();
const agent = await addAgent(service, { user: '{{topic}}', requiredVariables: ['topic'] });
const topic = `sailor's "tides" $HOME \\ \n 🌊`;
const args = [agent.agentId, { topic }, service.url] as const;

async function output(name: string, code: string, command: string, env = {}): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, code);
  const { stdout } = await promisify(execFile)(command, [file], {
    cwd: folder,
    env: { PATH: process.env.PATH, [keyVariable]: key, ...env },
  });
  return stdout;
}

const isThere = (command: string) => spawnSync(command, ['--version']).status === 0;

test('TypeScript runs as it is, and a strict compiler finds nothing wrong', async () => {
  const said = await output('call.ts', typeScriptOf(...args), process.execPath);
  assert.equal(said, `success ${topic}\n`);
  const compiler = join(root, 'node_modules/.bin/tsc');
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
  const how = ['--noEmit', '--strict', '--target', 'esnext', '--moduleDetection', 'force'];
  // What it finds wrong it prints, and ends with 2.
  await promisify(execFile)(compiler, [...how, ...types, 'call.ts'], { cwd: folder });
});

test('Python runs as it is', { skip: !isThere('python3') }, async () => {
  const said = await output('call.py', pythonOf(...args), 'python3', { PYTHONUTF8: '1' });
  assert.equal(said, `success ${topic}\n`);
});

test('curl runs as it is', { skip: !isThere('curl') }, async () => {
  const said = await output('call.sh', curlOf(...args), 'sh');
  assert.equal(JSON.parse(said).status, 'processing');
});

test('the example of the documentation runs as it is', async () => {
  const text = readFileSync(join(root, 'docs/api.md'), 'utf8');
  const [, code = ''] = /^### TypeScript$[\s\S]*?^```ts\n([\s\S]*?)^```$/m.exec(text) ?? [];
  const env = { CUELINE_URL: service.url, CUELINE_KEY: key, AGENT: agent.agentId };
  assert.equal(await output('example.ts', code, process.execPath, env), 'success tides\n');
});
