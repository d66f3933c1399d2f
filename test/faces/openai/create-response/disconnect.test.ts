import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { singleAgent } from '../../../../harness/openai-agents.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await singleAgent(service, { agentName: 'One' });

/** Starts a call, disconnects while the model works, and returns the execution and its call. */
async function leave(path: string, body: object, headers = {}) {
  const held = service.models.hold();
  const controller = new AbortController();
  const response = fetch(service.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'one', ...body }),
    signal: controller.signal,
  });
  const call = await held.arrived;
  controller.abort();
  await assert.rejects(response.then((one) => one.text()));
  return { held, call };
}

async function latest() {
  const { body } = await service.call(
    'GET',
    `${agent.path}/executions?limit=1&include=processing`,
    { key },
  );
  return body.executions[0];
}

const input = { input: 'x' };
const messages = { messages: [{ role: 'user', content: 'x' }] };

test('disconnecting cancels the execution', async () => {
  for (const [path, body] of [
    ['/v1/responses', input],
    ['/v1/responses', { ...input, stream: true }],
    ['/v1/chat/completions', messages],
    ['/v1/chat/completions', { ...messages, stream: true }],
  ] as const) {
    const { call } = await leave(path, body);
    if (!call.signal.aborted) {
      await new Promise((resolve) => call.signal.addEventListener('abort', resolve));
    }
    for (;;) {
      const { status, errorCode } = await latest();
      if (status === 'processing') continue;
      assert.deepEqual([status, errorCode], ['canceled', 'CANCELED']);
      break;
    }
  }
});

test('with an Idempotency-Key, the execution continues and the client comes back for it', async () => {
  const headers = { 'idempotency-key': 'k1' };
  const { held } = await leave('/v1/responses', input, headers);
  assert.equal((await latest()).status, 'processing');
  held.release({ text: 'still here' });
  const body = { model: 'one', ...input };
  const again = await service.call('POST', '/v1/responses', { key, body, headers });
  assert.equal(again.body.output[0].content[0].text, 'still here');
});
