import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderPrompt } from '../../../src/core/execution/render-prompt.ts';

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

test('variables that the prompt does not name are not decoded', () => {
  class Values extends Map<string, string> {
    override keys(): never {
      assert.fail('they were');
    }
    override [Symbol.iterator] = this.keys;
  }
  const variableValues = new Values();
  variableValues.set('name', '"Ada"').set('other', '1');
  const template = { system: null, user: 'Hello {{name}}' };
  const inputVariables = '{"name":"Ada","other":1}';
  const prompt = renderPrompt(template, { inputVariables, variableValues, settings: { defaults } });
  assert.equal(prompt?.user, 'Hello Ada');
});
