import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import {
  clientResult,
  clientsFolder,
  pythonEnv,
  runClient,
  skipWithout,
  skipWithoutPython,
} from '../../harness/clients.ts';
import { deployed } from '../../harness/openai-agents.ts';
import { startService } from '../../harness/service.ts';

/** Runs the snippets of docs/clients.md and the README as they are, except those of Cueline's own clients. */

const service = await startService();
after(service.close);
const { key } = await service.key();
await deployed(service, { user: 'Explain {{topic}}.' }, { agentName: 'Explainer' });

const root = join(import.meta.dirname, '../..');
const docs = readFileSync(join(root, 'docs/clients.md'), 'utf8');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const snippetEnv = { CUELINE_URL: service.url, CUELINE_KEY: key };

/** The snippets in a language, with the package that they name. */
function snippets(text: string, language: string) {
  const blocks = text.matchAll(new RegExp(`^\`\`\`${language} (\\S+)\n(.*?)^\`\`\`$`, 'gms'));
  return [...blocks].map(([, name = '', code = '']) => ({ name, code }));
}

/** Not synchronous: this process answers. */
async function run(command: string, args: readonly string[], env = {}): Promise<string> {
  const options = { cwd: clientsFolder, env: { ...process.env, ...snippetEnv, ...env } };
  const { stdout } = await promisify(execFile)(command, [...args], options);
  return stdout;
}

async function runScript(code: string): Promise<string> {
  const folder = mkdtempSync(join(clientsFolder, 'snippet-'));
  const file = join(folder, 'snippet.ts');
  writeFileSync(file, code);
  try {
    const ran = await runClient(relative(clientsFolder, file), [], snippetEnv);
    assert.equal(ran.code, 0, ran.stderr);
    return ran.stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const scripts = snippets(docs, 'ts').filter(({ name }) => name !== 'cueline-client');
const [, readmeSnippet = ''] = /^```ts\n(.*?)^```$/ms.exec(readme) ?? [];
for (const [n, { name, code }] of [...scripts, { name: 'openai', code: readmeSnippet }].entries()) {
  test(`TypeScript ${n + 1}, ${name}`, { skip: skipWithout(name) }, async () => {
    assert.match(await runScript(code), /Explain tides\./);
  });
}

test('Python', { skip: skipWithoutPython() }, async () => {
  const snippet = snippets(docs, 'python').find(({ name }) => name === 'openai');
  assert.match(await run('python3', ['-c', snippet?.code ?? ''], pythonEnv), /Explain tides\./);
});

const inspector = '@modelcontextprotocol/inspector';

test('the inspector of MCP', { skip: skipWithout(inspector) }, async () => {
  const snippet = snippets(docs, 'sh').find(({ name }) => name === inspector);
  // Of the versions of Node beside the clients, `npx` runs any: the options of this process are not for it.
  const output = await run('sh', ['-c', snippet?.code ?? ''], { NODE_OPTIONS: '' });
  assert.match(output, /Explain tides\./);
});

/** The URL and the header that Claude Code gets from its command. */
async function connectionOfCommand(command: string) {
  const printed = await run('sh', ['-c', `claude() { printf '%s\\n' "$@"; }\n${command}`]);
  const [mcp, add, option, transport, name, url = '', header, value = ''] = printed.split('\n');
  assert.deepEqual(
    [mcp, add, option, transport, name, header],
    ['mcp', 'add', '--transport', 'http', 'cueline', '--header'],
  );
  return { url, authorization: value.replace('Authorization: ', '') };
}

function connectionOfConfig(json: string) {
  const { mcpServers, servers } = JSON.parse(json.replace('cue_…', key));
  const { url, headers } = (mcpServers ?? servers).cueline;
  return {
    url: url.replace('http://127.0.0.1:4000', service.url),
    authorization: headers.Authorization,
  };
}

test('the configurations of MCP clients', {
  skip: skipWithout('@modelcontextprotocol/client'),
}, async () => {
  const commands = [...(docs + readme).matchAll(/^claude mcp add .*$/gm)].map(([line]) => line);
  const files = [...docs.matchAll(/^```json\n(.*?)^```$/gms)].map(([, json = '']) => json);
  assert.deepEqual([commands.length, files.length], [2, 2]);
  const given = [
    ...(await Promise.all(commands.map(connectionOfCommand))),
    ...files.map(connectionOfConfig),
  ];
  for (const { url, authorization } of given) {
    assert.equal(url, `${service.url}/mcp`);
    const { names } = await clientResult('mcp-list.mjs', url, authorization);
    assert.deepEqual(names, ['explainer']);
  }
});
