import assert from 'node:assert/strict';
import { test } from 'node:test';
import { demoModel } from '../../../src/models/connection/environment.ts';

test('the demo uses the first provider with a key whose models have the same names in every account', () => {
  const cases = [
    [{}, null],
    [{ OPENAI_API_KEY: ' ' }, null],
    [{ OLLAMA_HOST: '127.0.0.1' }, null],
    [{ AZURE_API_KEY: 'k', AZURE_RESOURCE_NAME: 'r' }, null],
    [{ AWS_ACCESS_KEY_ID: 'k', AWS_SECRET_ACCESS_KEY: 's' }, null],
    [{ AZURE_API_KEY: 'k', GEMINI_API_KEY: 'k', GROQ_API_KEY: 'k' }, 'google/gemini-3.5-flash'],
    [{ ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' }, 'openai/gpt-5.4-mini'],
    [{ XAI_API_KEY: 'k' }, 'xai/grok-4-fast'],
  ] as const;
  for (const [env, model] of cases) assert.equal(demoModel(env), model, JSON.stringify(env));
});
