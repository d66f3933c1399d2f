import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderPrompt } from '../../../src/core/agent/render-prompt.ts';

const defaults = { tone: 'brief', detail: 'none', aside: null };

function rendered(variables: object): (string | null | undefined)[] {
  const template = { system: 'Be {{tone}}.', user: '{{topic}}: {{detail}}|{{aside}}' };
  const inputVariables = JSON.stringify(variables);
  const prompt = renderPrompt(template, { inputVariables, settings: { defaults } });
  return [prompt?.system, prompt?.user];
}

test('a supplied value precedes the default', () => {
  const variables = { topic: 'tides', tone: 'loud', detail: 'x', aside: 1 };
  assert.deepEqual(rendered(variables), ['Be loud.', 'tides: x|1']);
});

test('without a value the default is used, and without a default the empty string', () => {
  assert.deepEqual(rendered({ tone: null }), ['Be brief.', ': none|']);
});
