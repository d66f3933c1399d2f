import { type Generated, generate } from '../../src/provider/generate.ts';
import { languageModel } from '../../src/provider/language-model.ts';
import { complete, type ProviderSettings } from '../../src/provider/settings.ts';

/** What is made of an answer, of a model of that kind. Nothing is sent. */
export async function generated(
  settings: Partial<ProviderSettings>,
  answer: object,
): Promise<Generated> {
  const whole = { name: 'p', kind: 'openai', apiKey: 'key', baseURL: null, ...settings } as const;
  const connection = complete(whole, false, 'http://127.0.0.1:11434');
  const model = await languageModel(connection, 'm', async () => Response.json(answer));
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

/** An answer of Google's Gemini API. */
export function candidate(usageMetadata: object | null, text: string, finishReason = 'STOP') {
  const content = { parts: text ? [{ text }] : [] };
  return { candidates: [{ content, finishReason }], ...(usageMetadata && { usageMetadata }) };
}
