import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import {
  claudeCodeSnippet,
  curlSnippet,
  cursorSnippet,
  keyVariable,
  pythonSnippet,
  typeScriptSnippet,
  vsCodeSnippet,
} from '../../dashboard/data/agents/call-snippets.ts';
import { addAgent } from '../../harness/agents.ts';
import { clientResult, pythonEnv, skipWithout, skipWithoutPython } from '../../harness/clients.ts';
import { legacy, modern } from '../../harness/mcp.ts';
import { startService } from '../../harness/service.ts';

/** Runs the snippets of the page in an empty folder. */

const service = await startService();
after(service.close);
const folder = await mkdtemp(join(tmpdir(), 'cueline-snippets-'));
after(() => rm(folder, { recursive: true }));
const root = join(import.meta.dirname, '../..');
const { key } = await service.key();
const agent = await addAgent(service, {
  ...{ slug: 'tides', user: '{{topic}}', requiredVariables: ['topic'] },
});
const topic = `sailor's "tides" $HOME \\ \n 🌊`;
const slug = 'tides';
const variables = { topic };
const call = { agentId: agent.agentId, slug, variables, baseURL: service.url, key: null };

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
  const said = await output('call.ts', typeScriptSnippet(call), process.execPath);
  assert.equal(said, `success ${topic}\n`);
  const compiler = join(root, 'node_modules/.bin/tsc');
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
  const how = ['--noEmit', '--strict', '--target', 'esnext', '--moduleDetection', 'force'];
  // The compiler exits with 2 on errors, which rejects.
  await promisify(execFile)(compiler, [...how, ...types, 'call.ts'], { cwd: folder });
});

test('the Python snippet runs', { skip: skipWithoutPython() }, async () => {
  const said = await output('call.py', pythonSnippet(call), 'python3', pythonEnv);
  assert.equal(said, `${topic}\n`);
});

test('the Python snippet is valid for texts and for any JSON', {
  skip: !isThere('python3'),
}, async () => {
  for (const [name, values] of Object.entries({ texts: { topic }, any: { topic: [null, true] } })) {
    for (const given of [key, null]) {
      const file = join(folder, `${name}.py`);
      await writeFile(file, pythonSnippet({ ...call, variables: values, key: given }));
      await promisify(execFile)('python3', ['-m', 'py_compile', file]);
    }
  }
});

/** The output in the last event that curl prints. */
function curlAnswer(said: string): unknown {
  const [, end = '{}'] = /^event: end\n(?:id: .*\n)?data: (.*)$/m.exec(said) ?? [];
  return JSON.parse(end).outputText;
}

test('the curl snippet runs', { skip: !isThere('curl') }, async () => {
  assert.equal(curlAnswer(await output('call.sh', curlSnippet(call), 'sh')), topic);
});

test('snippets with a key that was just issued need no environment', {
  skip: !isThere('curl'),
}, async () => {
  const issued = { ...call, key };
  const env = { [keyVariable]: '' };
  const script = await output('issued.ts', typeScriptSnippet(issued), process.execPath, env);
  assert.equal(script, `success ${topic}\n`);
  assert.equal(curlAnswer(await output('issued.sh', curlSnippet(issued), 'sh', env)), topic);
});

/** The URL and the header that each tool gets. */
function connections(given: string | null) {
  const issued = { ...call, key: given };
  const command = claudeCodeSnippet(issued).replaceAll('\\\n', '');
  const quoted = [...command.matchAll(/['"]([^'"]+)['"]/g)].map((match) => match[1] ?? '');
  const [, url = '', header = ''] = quoted;
  const cursor = JSON.parse(cursorSnippet(issued)).mcpServers[slug];
  const { servers, inputs } = JSON.parse(vsCodeSnippet(issued));
  return {
    claudeCode: { url, authorization: header.replace('Authorization: ', '') },
    cursor: { url: cursor.url, authorization: cursor.headers.Authorization },
    vsCode: { url: servers[slug].url, authorization: servers[slug].headers.Authorization, inputs },
  };
}

test('the MCP snippets connect a client to the agent as its only tool', async () => {
  for (const [tool, { url, authorization }] of Object.entries(connections(key))) {
    assert.equal(authorization, `Bearer ${key}`, tool);
    const { origin, pathname: path } = new URL(url);
    for (const send of [modern, legacy]) {
      const { body } = await send({ url: origin }, 'tools/list', {}, { key, path });
      const names = body.result.tools.map(({ name }: { name: string }) => name);
      assert.deepEqual(names, [slug], tool);
    }
  }
});

const clientName = '@modelcontextprotocol/client';

test('the MCP snippets work in a client', { skip: skipWithout(clientName) }, async () => {
  for (const { url, authorization } of Object.values(connections(key))) {
    const { names } = await clientResult('mcp-list.mjs', url, authorization);
    assert.deepEqual(names, [slug]);
  }
});

test('the MCP snippets without a key name where their tool finds it', () => {
  const { claudeCode, cursor, vsCode } = connections(null);
  assert.equal(claudeCode.authorization, `Bearer $${keyVariable}`);
  assert.equal(cursor.authorization, `Bearer \${env:${keyVariable}}`);
  assert.equal(vsCode.authorization, `Bearer \${input:${vsCode.inputs[0].id}}`);
});
