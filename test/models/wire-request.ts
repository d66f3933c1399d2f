import assert from 'node:assert/strict';
import type { CallSettings } from '../../src/core/agent/call-settings.ts';
import type { ModelCall } from '../../src/core/model/model-port.ts';
import { languageModel } from '../../src/models/adapters/language-model.ts';
import { ByteBudget } from '../../src/models/capacity/byte-budget.ts';
import { complete, type ProviderSettings } from '../../src/models/connection/settings.ts';
import { generate } from '../../src/models/generate.ts';
import { fetchedBytesMax, withFetchedFiles } from '../../src/models/request/files.ts';
import { chat, response } from './generated.ts';

/** The requests that a call makes at a provider of some kind, which answers in the format of the path. */

type Call = Partial<Omit<ModelCall, 'settings'>> & { readonly settings?: CallSettings };

export interface WireRequest {
  readonly url: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field
  readonly body: any;
  readonly headers: Headers;
}

/** A provider that answers `reply(body)`, or if that is null, the usual text. */
export async function wireRequests(
  settings: Partial<ProviderSettings>,
  model: string,
  call: Call,
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field
  reply: (body: any, url: string) => Response | null = () => null,
  download: typeof globalThis.fetch = async () => assert.fail('nothing is fetched'),
) {
  const whole = { name: 'p', kind: 'openai', apiKey: 'key', baseURL: null, ...settings } as const;
  const sent: WireRequest[] = [];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const body = JSON.parse(String(init?.body));
    sent.push({ url: String(url), body, headers: new Headers(init?.headers) });
    return reply(body, String(url)) ?? Response.json(answerTo(String(url)));
  };
  const ready = await languageModel(complete(whole, false, ''), model, fetch);
  const asked = { ...plain, ...call };
  const { signal } = new AbortController();
  const files = { download, isPublic: async () => true, budget: new ByteBudget(fetchedBytesMax) };
  const ask = () =>
    withFetchedFiles(ready, asked, files, signal, (complete) => generate(ready, complete, signal));
  return { sent, generated: await ask(), ask };
}

const plain = { system: null, user: 'hello', temperature: null, maxTokens: null, topP: null };

/** The formats of the kinds whose requests the tests compare. */
export const kinds = {
  responses: { settings: { kind: 'openai' }, model: 'gpt-4o' },
  chat: { settings: { kind: 'openai', baseURL: 'https://gateway.example/v1' }, model: 'gpt-4o' },
  anthropic: { settings: { kind: 'anthropic' }, model: 'claude-sonnet-4-5' },
  google: { settings: { kind: 'google' }, model: 'gemini-2.5-pro' },
  bedrock: { settings: { kind: 'bedrock' }, model: 'anthropic.claude-sonnet-4-5-20250929-v1:0' },
  compatible: {
    settings: { kind: 'openai-compatible', baseURL: 'https://server.example/v1' },
    model: 'm',
  },
} as const satisfies Record<string, { settings: Partial<ProviderSettings>; model: string }>;

function answerTo(url: string): object {
  if (url.endsWith('/converse')) {
    return {
      output: { message: { role: 'assistant', content: [{ text: 'hi' }] } },
      stopReason: 'end_turn',
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    };
  }
  if (url.endsWith('/messages')) {
    return {
      ...{ id: 'msg', type: 'message', role: 'assistant', model: 'm' },
      ...{ content: [{ type: 'text', text: 'hi' }], stop_reason: 'end_turn' },
      usage: { input_tokens: 1, output_tokens: 1 },
    };
  }
  if (url.endsWith(':generateContent')) {
    return {
      candidates: [{ content: { parts: [{ text: 'hi' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 },
    };
  }
  if (url.endsWith('/api/chat')) {
    return { model: 'm', message: { role: 'assistant', content: 'hi' }, done: true };
  }
  if (url.endsWith('/responses')) return response({});
  return chat(undefined, { message: { role: 'assistant', content: 'hi' } });
}
