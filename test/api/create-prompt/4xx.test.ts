import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { createPrompt } from '../../../src/contract/agents/prompts.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/prompts';

testRefusals(service, createPrompt, { path, body: { name: 'P' } });

const wrong: [what: string, body: object][] = [
  ['no name', {}],
  ['an empty name', { name: '' }],
  ['a name of blanks', { name: ' \n' }],
  ['a name that is no text', { name: 5 }],
  ['a name of 201 characters', { name: 'x'.repeat(201) }],
  ['a description of 2,001 characters', { name: 'x', description: 'x'.repeat(2_001) }],
  ['a NUL', { name: 'x\0' }],
  ['a lone surrogate', { name: 'x\ud800' }],
];
for (const [what, body] of wrong) {
  test(`400 for ${what}, and nothing is created`, async () => {
    const { key } = await service.key();
    const before = (await service.call('GET', path, { key })).body.pagination.total;
    const response = await service.call('POST', path, { key, body });
    assert.deepEqual([response.status, response.body.code], [400, 'INVALID_REQUEST']);
    assert.equal((await service.call('GET', path, { key })).body.pagination.total, before);
  });
}

test('403 for a key that is restricted to agents', async () => {
  const { agentId } = await addAgent(service);
  const { key } = await service.key({ agentIds: [agentId] });
  const response = await service.call('POST', path, { key, body: { name: 'P' } });
  assert.deepEqual([response.status, response.body.code], [403, 'PERMISSION_DENIED']);
});
