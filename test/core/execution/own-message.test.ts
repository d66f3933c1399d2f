import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownMessage } from '../../../src/core/execution/own-message.ts';
import { unstorableJson } from '../../../src/core/json.ts';

const shown = (message: string, declared: string[] = []) =>
  ownMessage({ code: 'INVALID_REQUEST', message, fields: {} }, declared);

test('of a message, names of the agent and of the API remain, and nothing else that is quoted', () => {
  assert.equal(
    shown('Field "draft.secret" is not "topic".', ['topic']),
    'Field "…" is not "topic".',
  );
  assert.equal(
    shown('Raise "maxCostUSD", lower "maxTokens" (7).'),
    'Raise "maxCostUSD", lower "maxTokens" (7).',
  );
});

test('a number of the caller does not remain', () => {
  const message = unstorableJson('{"a":12345678901234567890}', 'Field "draft"');
  assert.match(String(message), /^The number 12345678901234567890 would/);
  assert.match(shown(String(message)), /^The number … would lose precision/);
});
