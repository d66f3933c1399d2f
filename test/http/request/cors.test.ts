import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { startService } from '../../../harness/service.ts';
import { generateKey } from '../../../src/core/people/key.ts';

/** Pages that call the OpenAI API and MCP with a key. */

const service = await startService();
after(service.close);
const origin = 'https://pages.example';
const { key } = await service.key({ allowedOrigins: [origin] });
const agent = await addAgent(service);
const allowed = (headers: Headers) => headers.get('access-control-allow-origin');

/** What SDKs add to their calls. */
const sdkHeaders = [
  ...['authorization', 'content-type', 'user-agent', 'x-stainless-lang', 'x-stainless-retry-count'],
  ...['openai-organization', 'openai-beta', 'http-referer', 'x-title', 'mcp-session-id'],
];

for (const path of [
  '/v1/chat/completions',
  '/v1/responses/resp_1',
  '/v1/models',
  '/mcp',
  '/mcp/a',
]) {
  test(`preflights of ${path}: the origins of keys, and every header`, async () => {
    const preflight = (from: string) =>
      fetch(service.url + path, {
        method: 'OPTIONS',
        headers: {
          origin: from,
          'access-control-request-method': 'POST',
          'access-control-request-headers': sdkHeaders.join(','),
        },
      });
    const { status, headers } = await preflight(origin);
    assert.equal(status, 204);
    assert.equal(allowed(headers), origin);
    const names = (headers.get('access-control-allow-headers') ?? '').toLowerCase().split(', ');
    assert.deepEqual(
      sdkHeaders.filter((name) => !names.includes(name)),
      [],
    );
    assert.match(headers.get('vary') ?? '', /Access-Control-Request-Headers/);
    assert.equal(allowed((await preflight('https://evil.example')).headers), null);
  });
}

test('a preflight cannot smuggle a header into the response', async () => {
  const names = ['x-good', 'x bad', 'x"quoted"', 'x'.repeat(200)].join(',');
  const { headers } = await fetch(`${service.url}/v1/models`, {
    method: 'OPTIONS',
    headers: {
      ...{ origin, 'access-control-request-method': 'GET' },
      'access-control-request-headers': names,
    },
  });
  assert.match(headers.get('access-control-allow-headers') ?? '', /, x-good$/);
});

test('an unknown path below /v1 has no preflight', async () => {
  const headers = { origin, 'access-control-request-method': 'POST' };
  const response = await fetch(`${service.url}/v1/nothing`, { method: 'OPTIONS', headers });
  assert.equal(response.status, 404);
});

test('pages of the key read responses, errors too; others do not', async () => {
  const messages = [{ role: 'user', content: 'Hi' }];
  const post = (path: string, body: object, given: string, from: string) =>
    service.call('POST', path, { key: given, body, headers: { origin: from } });
  const { agentId: model } = agent;
  const bodies = {
    '/v1/chat/completions': { model, messages },
    '/v1/responses': { model, input: 'Hi' },
  };
  for (const [path, body] of Object.entries(bodies)) {
    for (const [given, status] of [
      [key, 200],
      [generateKey(), 401],
    ] as const) {
      const read = await post(path, body, given, origin);
      assert.deepEqual([read.status, allowed(read.headers)], [status, origin], path);
      assert.equal(allowed((await post(path, body, given, 'https://evil.example')).headers), null);
    }
    const unknown = await post(path, { ...body, model: 'none' }, key, origin);
    assert.deepEqual([unknown.status, allowed(unknown.headers)], [404, origin], path);
  }
  const listed = await service.call('GET', '/v1/models', { key, headers: { origin } });
  assert.deepEqual([listed.status, allowed(listed.headers)], [200, origin]);
});
