import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isCredential,
  isProviderName,
  needsBaseURL,
  providerKinds,
} from '../../../src/core/model/provider.ts';

test('a provider name is valid in a model path and is not reserved', () => {
  for (const name of ['openai', 'my.own-LLM_2', '0', 'a'.repeat(64)]) {
    assert.ok(isProviderName(name), name);
  }
  for (const name of [
    '',
    '-a',
    '.a',
    'a/b',
    'a b',
    'a\0',
    'ä',
    'a'.repeat(65),
    'cueline',
    'CueLine',
  ]) {
    assert.ok(!isProviderName(name), name);
  }
});

test('a credential is a valid header value', () => {
  for (const text of ['sk-abc', 'AKIA:secret/+=:token', 'two words', '~']) {
    assert.ok(isCredential(text), text);
  }
  for (const text of ['', ' ', 'sk-abc\n', ' sk-abc', 'sk\r\nx: y', 'schlüssel', 'a\0b']) {
    assert.ok(!isCredential(text), text);
  }
});

test('only kinds without a default base URL need one', () => {
  assert.deepEqual(providerKinds.filter(needsBaseURL), ['azure', 'openai-compatible']);
});
