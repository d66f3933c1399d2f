import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { clientResult, skipWithout } from '../../harness/clients.ts';
import { conversationAgent, singleAgent } from '../../harness/openai-agents.ts';
import { startService } from '../../harness/service.ts';
import { textOf } from '../../src/core/agent/content.ts';
import { emitEnd } from '../../src/core/model/model-events.ts';
import {
  type Emit,
  type ModelCall,
  ModelFailure,
  noCost,
  noUsage,
} from '../../src/core/model/model-port.ts';

/** Clients of the OpenAI API that others have written. */

const service = await startService({ models: { call: answer } });
after(service.close);
const { key } = await service.key();
const url = `${service.url}/v1`;
await conversationAgent(service, { agentName: 'Many' });
const allowed = { allowInstructions: true, allowTools: true };
await conversationAgent(service, { agentName: 'Tools', ...allowed });
await singleAgent(service, { agentName: 'Slow' });

let failures = 0;

/** Answers by the last message: in two pieces, with a call of a tool, with JSON, with a failure or never. */
async function answer(call: ModelCall, emit: Emit): Promise<void> {
  const last = call.messages?.at(-1);
  const text = last ? textOf(last.content) : call.user;
  if (text.startsWith('Answer: ')) {
    const { promise, reject } = Promise.withResolvers<never>();
    call.signal.addEventListener('abort', () => reject(call.signal.reason));
    return promise;
  }
  if (text === 'Fail') {
    failures++;
    throw new ModelFailure('PROVIDER_AUTH', 'No.');
  }
  const [tool] = last?.role === 'tool' ? [] : (call.tools ?? []);
  const [, city = 'x'] = /Weather in (\w+)/.exec(text) ?? [];
  const args = tool?.name === 'weather' ? { city } : { q: text };
  const toolCalls = tool ? [{ id: 'call_1', name: tool.name, arguments: args }] : [];
  const output = text === 'JSON' ? '{"mood":"good"}' : tool ? '' : text;
  for (const piece of [output.slice(0, 4), output.slice(4)]) {
    if (piece !== '') emit({ type: 'text', text: piece });
  }
  const finishReason = tool ? 'tool-calls' : 'stop';
  const usage = { ...noUsage, inputTokens: 10, outputTokens: 5 };
  emitEnd(emit, { usage, cost: noCost, finishReason, ...(tool && { toolCalls }) });
}

test('the package openai', { skip: skipWithout('openai') }, async () => {
  const out = await clientResult('openai.mjs', url, key);
  const { background, deltas, ...rest } = out;
  assert.ok(['queued', 'in_progress'].includes(background));
  assert.equal(deltas.join(''), 'Streamed');
  assert.deepEqual(rest, {
    models: ['many', 'slow', 'tools'],
    ...{ text: 'One', read: 'One', items: ['One'], streamed: 'Streamed', continued: 'amed' },
    ...{ canceled: 'cancelled', parsed: { mood: 'good' }, chat: 'Chat', chunks: 'Chunks' },
    usage: 15,
    errors: [
      { name: 'AuthenticationError', status: 401, code: 'invalid_api_key', param: null },
      { name: 'NotFoundError', status: 404, code: 'model_not_found', param: 'model' },
      {
        ...{ name: 'BadRequestError', status: 400, code: 'unsupported_parameter' },
        param: 'previous_response_id',
      },
      { name: 'InternalServerError', status: 502, code: 'PROVIDER_AUTH', param: null },
    ],
  });
});

test('@openai/agents runs its tools', { skip: skipWithout('@openai/agents') }, async () => {
  const outputs = await clientResult('openai-agents.mjs', url, key);
  const [rome, oslo] = ['Sunny in Rome', 'Sunny in Oslo'];
  assert.deepEqual(outputs, [rome, oslo, rome, oslo]);
});

test('@langchain/openai', { skip: skipWithout('@langchain/openai') }, async () => {
  const failuresBefore = failures;
  const outputs = await clientResult('langchain-openai.mjs', url, key);
  const called = { name: 'find', args: { q: 'Call' } };
  const expected = { text: 'Invoke', streamed: 'Stream', called, parsed: { mood: 'good' } };
  assert.deepEqual(outputs, [expected, expected]);
  assert.equal(failures - failuresBefore, outputs.length);
});

test('ai with @ai-sdk/openai and @ai-sdk/openai-compatible', {
  skip: skipWithout('ai'),
}, async () => {
  const failuresBefore = failures;
  const outputs = await clientResult('openai-ai-sdk.mjs', url, key);
  const expected = {
    ...{ text: 'Generate', streamed: 'Stream', totalTokens: 15 },
    ...{ called: 'Sunny in Rome', parsed: { mood: 'good' }, failed: 'No.' },
  };
  assert.deepEqual(outputs, [expected, expected]);
  assert.equal(failures - failuresBefore, outputs.length);
});

test('what is not here, and references to earlier items', { skip: skipWithout('ai') }, async () => {
  const out = await clientResult('openai-remains.mjs', url, key);
  assert.deepEqual(out, {
    missing: [404, 404, 404, 404, 404, 404, 404],
    refused: [400, 400, 400, 400],
    embeddings: [404, 404],
    stored: { text: 'Second', refers: true },
    unstored: { text: 'Second', refers: false },
  });
});
