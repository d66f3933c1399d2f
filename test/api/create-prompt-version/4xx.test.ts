import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { makePrompt } from '../../../harness/prompts.ts';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { createPromptVersion } from '../../../src/contract/agents/prompts.ts';

const service = await startService();
after(service.close);
const prompt = await makePrompt(service);
const path = `${prompt.path}/versions`;

testRefusals(service, createPromptVersion, { path, body: { user: 'x' } });

const many = Array.from({ length: 201 }, (_, i) => `{{v${i}}}`).join('');
const wrong: [what: string, body: object][] = [
  ['no user template', { system: 'x' }],
  ['an empty user template', { user: '' }],
  ['a user template of blanks', { user: ' \n' }],
  ['a user template of null', { user: null }],
  ['a template of 262,145 characters', { user: 'x'.repeat(262_145) }],
  ['an empty label', { user: 'x', label: '' }],
  ['a label of 101 characters', { user: 'x', label: 'x'.repeat(101) }],
  ['a label of null', { user: 'x', label: null }],
  ['a model without a provider', { user: 'x', model: 'gpt' }],
  ['a model with a blank', { user: 'x', model: 'openai/gpt 5' }],
  ['a temperature above 2', { user: 'x', temperature: 2.1 }],
  ['a temperature as text', { user: 'x', temperature: '1' }],
  ['no tokens', { user: 'x', maxTokens: 0 }],
  ['half a token', { user: 'x', maxTokens: 1.5 }],
  ['topP above 1', { user: 'x', topP: 1.01 }],
  ['a number of its own', { user: 'x', number: 5 }],
  ['a NUL in a template', { user: 'x\0' }],
  ['201 placeholders', { user: many }],
  ['a placeholder of 101 characters', { user: `{{${'x'.repeat(101)}}}` }],
];
for (const [what, body] of wrong) {
  test(`400 for ${what}, which uses no number`, async () => {
    const { key } = await service.key();
    const response = await service.call('POST', path, { key, body });
    assert.deepEqual([response.status, response.body.code], [400, 'INVALID_REQUEST']);
    assert.equal((await service.call('GET', prompt.path, { key })).body.versionCount, 0);
  });
}

test('200 placeholders of 100 characters are allowed', async () => {
  const { key } = await service.key();
  const names = Array.from({ length: 200 }, (_, i) => `v${i}`.padEnd(100, '_'));
  const half = (from: number) => names.slice(from, from + 100).map((name) => `{{${name}}}`);
  const body = { system: half(0).join(''), user: half(100).join('') };
  const other = await makePrompt(service);
  const created = await service.call('POST', `${other.path}/versions`, { key, body });
  assert.deepEqual(created.body.variables, names);
});

test('404 for a key that is restricted to agents of other prompts', async () => {
  const { agentId } = await addAgent(service);
  const { key } = await service.key({ agentIds: [agentId] });
  const response = await service.call('POST', path, { key, body: { user: 'x' } });
  assert.deepEqual([response.status, response.body.code], [404, 'NOT_FOUND']);
});
