import { languageModel } from '../../src/models/adapters/language-model.ts';
import { complete, type ProviderSettings } from '../../src/models/connection/settings.ts';
import { type Generated, generate } from '../../src/models/generate.ts';

/** The result for a response of a provider of this kind. Sends nothing. */
export async function generated(
  settings: Partial<ProviderSettings>,
  body: object,
): Promise<Generated> {
  const whole = { name: 'p', kind: 'openai', apiKey: 'key', baseURL: null, ...settings } as const;
  const connection = complete(whole, false, 'http://127.0.0.1:11434');
  const model = await languageModel(connection, 'm', async () => Response.json(body));
  const call = { system: null, user: 'hello', temperature: null, maxTokens: null, topP: null };
  return generate(model, call, new AbortController().signal);
}

/** A chat completion. */
export function chat(usage?: object | null, choice: object = {}): object {
  const message = { role: 'assistant', content: 'hi' };
  return {
    id: 'c',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message, finish_reason: 'stop', ...choice }],
    ...(usage === null ? {} : { usage: usage ?? { prompt_tokens: 10, completion_tokens: 2 } }),
  };
}

/** A response of OpenAI's Responses API. */
export function response(more: object = {}): object {
  const content = [{ type: 'output_text', text: 'hi', annotations: [] }];
  const message = { type: 'message', id: 'm', role: 'assistant', status: 'completed', content };
  return {
    ...{ id: 'r', object: 'response', created_at: 1, status: 'completed', model: 'm' },
    ...{ output: [message], usage: { input_tokens: 10, output_tokens: 5 } },
    ...more,
  };
}

/** A response of Google's Gemini API. */
export function candidate(usageMetadata: object | null, text: string, finishReason = 'STOP') {
  const content = { parts: text ? [{ text }] : [] };
  return { candidates: [{ content, finishReason }], ...(usageMetadata && { usageMetadata }) };
}
