import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import {
  curlSnippet,
  keyVariable,
  pythonSnippet,
  typeScriptSnippet,
} from '../../dashboard/data/text/call-snippets.ts';
import { addAgent } from '../../harness/agents.ts';
import { startService } from '../../harness/service.ts';

/** Runs the snippets of the page and the docs in an empty folder. */

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

test('the TypeScript snippet runs and passes a strict compiler', async () => {
  const said = await output('call.ts', typeScriptSnippet(...args), process.execPath);
  assert.equal(said, `success ${topic}\n`);
  const compiler = join(root, 'node_modules/.bin/tsc');
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
  const how = ['--noEmit', '--strict', '--target', 'esnext', '--moduleDetection', 'force'];
  // The compiler exits with 2 on errors, which rejects.
  await promisify(execFile)(compiler, [...how, ...types, 'call.ts'], { cwd: folder });
});

test('the Python snippet runs', { skip: !isThere('python3') }, async () => {
  const said = await output('call.py', pythonSnippet(...args), 'python3', { PYTHONUTF8: '1' });
  assert.equal(said, `success ${topic}\n`);
});

test('the curl snippet runs', { skip: !isThere('curl') }, async () => {
  const said = await output('call.sh', curlSnippet(...args), 'sh');
  assert.equal(JSON.parse(said).status, 'processing');
});

test('the example in the docs runs', async () => {
  const text = readFileSync(join(root, 'docs/api.md'), 'utf8');
  const [, code = ''] = /^### TypeScript$[\s\S]*?^```ts\n([\s\S]*?)^```$/m.exec(text) ?? [];
  const env = { CUELINE_URL: service.url, CUELINE_KEY: key, AGENT: agent.agentId };
  assert.equal(await output('example.ts', code, process.execPath, env), 'success tides\n');
});
