import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { modernRequest } from '../../harness/mcp.ts';
import { makeAgent, makePrompt, move } from '../../harness/prompts.ts';
import { startService } from '../../harness/service.ts';
import { readMetric } from '../../harness/unread-client.ts';

/** Long bodies of one workspace leave room for those of another, whichever of its keys and users send them. */

const bodyBytes = 8_388_608;
const service = await startService({ config: { bodyBytes } });
after(service.close);
const agent = await addAgent(service, { slug: 'own' });
const { key } = await service.key();
const { key: second } = await service.key();
const stranger = await service.workspace();
const foreign = await addAgent(service, { ...stranger, createdBy: stranger.ownerId, slug: 'own' });
const { key: other } = await service.key({ ...stranger, userId: stranger.ownerId });

const held = () => readMetric(service.url, 'cueline_body_bytes_held');

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue()));
}

/** The beginning of a body that does not end. */
async function begin(bytes: number) {
  const { port } = new URL(service.url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => {});
  const headers = `host: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${bytes + 1}`;
  socket.write(`POST ${agent.path}/execute HTTP/1.1\r\n${headers}\r\n\r\n${'1'.repeat(bytes)}`);
  await until(async () => (await held()) >= bytes);
  return socket;
}

/** Returns the status and the text. */
async function send({ path, body, headers }: Call, as: string) {
  const response = await fetch(service.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

interface Call {
  readonly path: string;
  readonly body: object;
  readonly headers: Readonly<Record<string, string>>;
}

const text = 'x'.repeat(2_000_000);
const { message, headers } = modernRequest('tools/call', {
  ...{ name: 'own', arguments: { name: text } },
});
const calls = (path: string) =>
  ({
    execute: { path: `${path}/execute`, body: { variables: { name: text } }, headers: {} },
    'chat completions': {
      ...{ path: '/v1/chat/completions', headers: {} },
      body: { model: 'own', messages: [{ role: 'user', content: text }] },
    },
    responses: { path: '/v1/responses', body: { model: 'own', input: text }, headers: {} },
    MCP: { path: '/mcp', body: message, headers },
  }) as const;

for (const name of ['execute', 'chat completions', 'responses', 'MCP'] as const) {
  test(`${name}: another key of the workspace has no room, another workspace has`, async () => {
    const socket = await begin(6_000_000);
    const refused = await send(calls(agent.path)[name], second);
    assert.equal(refused.status, 503);
    assert.match(refused.text, /of which one workspace uses 7549747/);
    const { status } = await send(calls(foreign.path)[name], other);
    assert.ok(status === 200 || status === 202, String(status));
    socket.destroy();
    await until(async () => (await held()) === 0);
    service.faults.splice(0);
  });
}

test('a client of MCP that reads no stream holds no body while its tool runs', async () => {
  const prompt = await makePrompt(service, { user: '{{name}}' });
  const tool = await makeAgent(service, prompt, { slug: 'tool', requiredVariables: ['name'] });
  await move(service, tool, 'enable-api');
  const call = modernRequest('tools/call', { name: 'tool', arguments: { name: text } });
  const waiting = service.models.hold();
  const accept = { accept: 'application/json' };
  const sent = { path: '/mcp', body: call.message, headers: { ...call.headers, ...accept } };
  const answer = send(sent, key);
  await waiting.arrived;
  assert.equal(await held(), 0);
  waiting.release();
  assert.equal((await answer).status, 200);
});
