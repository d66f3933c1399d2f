import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { openUnsealed, unsealed } from '../../../harness/setups.ts';
import { reasoningEfforts } from '../../../src/core/agent/call-settings.ts';
import type { Message } from '../../../src/core/agent/messages.ts';
import { sizeOfPrompt } from '../../../src/core/agent/prompt-size.ts';
import { callBound } from '../../../src/core/model/call-bound.ts';
import { noExtras } from '../../../src/core/model/request-extras.ts';
import { createPriceLookup } from '../../../src/models/price-lookup.ts';
import { kinds, type WireRequest, wireRequests } from '../wire-request.ts';

/** The bound of a call against the requests that the packages of the providers really write. */

const prices = createPriceLookup({ open: openUnsealed, env: {}, allowedHosts: [] });
const price = {
  ...{ inputPerMillion: '1', outputPerMillion: '1' },
  ...{ cacheReadPerMillion: null, cacheWritePerMillion: null },
};
type Call = NonNullable<Parameters<typeof wireRequests>[2]>;
type Settings = Parameters<typeof wireRequests>[0];

function boundOf(settings: Settings, model: string, call: Call) {
  const { responseFormat, correction = null, system = null, user = 'hello', messages } = call;
  const stored = { kind: 'openai', apiKey: 'key', baseURL: null, ...settings } as const;
  const extras = settings.extras ?? noExtras;
  const rates = prices.rates({
    ...{ workspaceId: 'w', model: `p/${model}`, settings: call.settings ?? {} },
    setup: { provider: unsealed({ ...stored, extras }), price },
  });
  if (rates.kind !== 'rates') throw new Error(rates.reason);
  const prompt = {
    system,
    user,
    ...(messages && { messages }),
    ...(call.tools && { tools: call.tools }),
  };
  const schema = responseFormat ? JSON.stringify(responseFormat.schema) : null;
  const bound = callBound(sizeOfPrompt(prompt, { schema, correction }), call.maxTokens ?? 0, rates);
  if (bound.kind !== 'bound') throw new Error(bound.reason);
  return bound;
}

/** Bytes of everything in a request that a model reads. */
function bytesRead({ body }: WireRequest): number {
  let bytes = 0;
  const visit = (value: unknown, name = '') => {
    if (structure.has(name)) return;
    if (schemas.has(name)) bytes += Buffer.byteLength(JSON.stringify(value));
    else if (typeof value === 'string') bytes += Buffer.byteLength(value);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, each] of Object.entries(value)) visit(each, key);
    }
  };
  visit(body);
  return bytes;
}

const structure = new Set(['model', 'role', 'type', 'tool_choice', 'toolConfig', 'status']);
const schemas = new Set(['parameters', 'input_schema', 'inputSchema', 'schema', 'responseSchema']);
schemas.add('responseJsonSchema').add('args').add('input_json');

/** The limits of the output in a request. */
function limitsIn(body: unknown): number[] {
  if (typeof body !== 'object' || body === null) return [];
  return Object.entries(body).flatMap(([name, value]) =>
    /^max(_completion|_output|Output)?_?tokens$/i.test(name) ? Number(value) : limitsIn(value),
  );
}

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 });
const turn = fc
  .record({ said: text, city: text, result: text })
  .map(({ said, city, result }): Message[] => [
    {
      ...{ role: 'assistant', content: said },
      toolCalls: [{ id: 'c1', name: 'weather', arguments: { city } }],
    },
    { role: 'tool', toolCallId: 'c1', content: result },
    { role: 'user', content: [{ text: said }, { text: result }] },
  ]);
const messages = fc
  .tuple(text, fc.option(turn), text)
  .map(([system, called, user]): Message[] => [
    { role: 'system', content: system },
    { role: 'user', content: user },
    ...(called ?? []),
    { role: 'system', content: user },
    { role: 'user', content: system },
  ]);
const tools = [{ name: 'weather', description: 'The weather', parameters: { type: 'object' } }];
const responseFormat = {
  type: 'json',
  schema: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
} as const;
const call: fc.Arbitrary<Call> = fc
  .record({
    conversation: messages,
    hasFormat: fc.boolean(),
    correction: fc.option(text),
    maxTokens: fc.integer({ min: 1, max: 10_000 }),
  })
  .map(({ conversation, hasFormat, correction, maxTokens }) => ({
    ...{ messages: conversation, tools, maxTokens },
    ...(hasFormat && { responseFormat }),
    ...(correction && { correction }),
  }));

describe('the bound of a call covers the request', () => {
  for (const [name, { settings, model }] of Object.entries(kinds)) {
    test(`to ${name}`, async () => {
      await fc.assert(
        fc.asyncProperty(call, async (asked) => {
          const { sent } = await wireRequests(settings, model, asked);
          const { inputTokens, outputTokens } = boundOf(settings, model, asked);
          const [request] = sent;
          assert.ok(request);
          assert.ok(bytesRead(request) <= inputTokens, `${bytesRead(request)} > ${inputTokens}`);
          const limits = limitsIn(request.body);
          assert.ok(limits.length > 0);
          assert.ok(limits.every((limit) => limit <= outputTokens));
        }),
        { numRuns: 30 },
      );
    });
  }

  const anthropic = [
    ...[
      'claude-3-haiku-20240307',
      'claude-sonnet-4-20250514',
      'claude-opus-4-1',
      'claude-opus-4-5',
    ],
    ...[
      'claude-haiku-4-5',
      'claude-sonnet-4-6',
      'claude-opus-4-7',
      'claude-opus-5',
      'claude-new-9',
    ],
    ...['claude-sonnet-5-5', 'other-model'],
  ];
  for (const model of anthropic) {
    test(`with the reasoning of ${model}`, async () => {
      for (const kind of ['anthropic', 'bedrock'] as const) {
        const name = kind === 'bedrock' ? `anthropic.${model}-v1:0` : model;
        for (const reasoningEffort of reasoningEfforts) {
          const asked = { maxTokens: 2_000, settings: { reasoningEffort } };
          const { sent } = await wireRequests({ kind }, name, asked);
          const { outputTokens } = boundOf({ kind }, name, asked);
          const limits = limitsIn(sent[0]?.body);
          assert.ok(
            limits.length > 0 && limits.every((limit) => limit <= outputTokens),
            `${kind} ${reasoningEffort}: ${limits} > ${outputTokens}`,
          );
        }
      }
    });
  }
});
