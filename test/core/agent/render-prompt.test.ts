import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderPrompt } from '../../../src/core/agent/render-prompt.ts';

const template = { system: 'Be {{tone}}.', user: '{{topic}}: {{detail}}|{{aside}}' };
const variables = { topic: 'tides', tone: 'loud', detail: null };

test('a supplied value precedes the default, and a default the empty string', () => {
  const prompt = renderPrompt(template, {
    inputVariables: JSON.stringify(variables),
    settings: { defaults: { tone: 'brief', detail: 'none', aside: null } },
  });
  assert.deepEqual([prompt?.system, prompt?.user], ['Be loud.', 'tides: none|']);
});
