import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { clientResult, runClient, skipWithout } from '../../harness/clients.ts';
import { startService } from '../../harness/service.ts';
import { deployTool } from '../../harness/tools.ts';

/** Clients of the Model Context Protocol that others have written. */

const service = await startService();
after(service.close);
const { key } = await service.key();
const url = `${service.url}/mcp`;
const schema = { type: 'object', properties: { mood: { type: 'string' } }, required: ['mood'] };
await deployTool(service, { agent: { slug: 'greet' }, version: { user: 'Hello {{name}}' } });
const slow = await deployTool(service, { agent: { slug: 'slow' }, version: { user: 'Wait' } });
await deployTool(service, {
  agent: { slug: 'judge' },
  version: { user: '{"mood":"good"}', responseFormat: { type: 'json', schema } },
});

// biome-ignore lint/suspicious/noExplicitAny: the JSON of a program
function checkResults({ tools, greeted, judged, refused }: any): void {
  const names = tools.map(({ name }: { name: string }) => name);
  assert.deepEqual(names.sort(), ['greet', 'judge', 'slow']);
  assert.equal(greeted.content[0].text, 'Hello Ada');
  assert.deepEqual(judged.structuredContent, { mood: 'good' });
  assert.equal(refused.isError, true);
  assert.match(refused.content[0].text, /Required variables are missing: name/);
}

function checkProgress(messages: readonly string[]): void {
  assert.match(messages[0] ?? '', /^Accepted as exe_/);
  assert.equal(messages.at(-1), 'Ended: success.');
}

/** The status of the newest execution of the slow agent, once it has ended. */
async function slowStatus(): Promise<string> {
  const { body } = await service.call('GET', `${slow.path}/executions?include=processing`, { key });
  const [{ executionId }] = body.executions;
  for (;;) {
    const { body: record } = await service.call(
      'GET',
      `${slow.path}/executions/${executionId}?wait=20`,
      { key },
    );
    if (record.status !== 'processing') return record.status;
  }
}

/** The model waits in the call of the slow agent, after two others. */
function holdThird(): void {
  service.models.script({}, {});
  service.models.hold();
}

test('version 1 of the client', { skip: skipWithout('@modelcontextprotocol/sdk') }, async () => {
  holdThird();
  const result = await clientResult('mcp-sdk-1.mjs', url, key);
  checkResults(result);
  checkProgress(result.progress);
  assert.equal(await slowStatus(), 'canceled');
});

for (const [revision, negotiated] of [
  ['2026-07-28', '2026-07-28'],
  ['auto', '2026-07-28'],
  ['legacy', '2025-11-25'],
] as const) {
  const skip = skipWithout('@modelcontextprotocol/client');
  test(`version 2 of the client: ${revision}`, { skip }, async () => {
    holdThird();
    const result = await clientResult('mcp-client-2.mjs', url, key, revision);
    assert.equal(result.version, negotiated);
    checkResults(result);
    checkProgress(result.progress);
    assert.equal(await slowStatus(), 'canceled');
  });
}

test('the OpenAI Agents SDK', { skip: skipWithout('@openai/agents') }, async () => {
  checkResults(await clientResult('mcp-openai-agents.mjs', url, key));
});

test('the AI SDK', { skip: skipWithout('@ai-sdk/mcp') }, async () => {
  checkResults(await clientResult('mcp-ai-sdk.mjs', url, key));
});

test('the inspector', { skip: skipWithout('@modelcontextprotocol/inspector') }, async () => {
  const inspect = async (...args: string[]) => {
    const header = `Authorization: Bearer ${key}`;
    const { code, stdout, stderr } = await runClient(
      'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
      ['--cli', url, '--transport', 'http', '--header', header, ...args],
    );
    assert.equal(code, 0, stdout + stderr);
    return JSON.parse(stdout);
  };
  const { tools } = await inspect('--method', 'tools/list');
  assert.equal(tools.length, 3);
  const call = ['--method', 'tools/call', '--tool-name', 'greet', '--tool-arg', 'name=Ada'];
  assert.equal((await inspect(...call)).content[0].text, 'Hello Ada');
});
