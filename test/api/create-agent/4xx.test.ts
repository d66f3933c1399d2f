import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { makePrompt } from '../../../harness/prompts.ts';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { createAgent } from '../../../src/contract/agents/agents.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/agents';
const prompt = await makePrompt(service, { user: 'x' });
const other = await makePrompt(service, { user: 'y' });
const body = {
  agentName: 'A',
  promptId: prompt.promptId,
  promptVersionId: prompt.versionIds[0],
};

testRefusals(service, createAgent, { path, body });

const unknown: [what: string, input: object][] = [
  ['a prompt that is not there', { promptId: 'prm_01jd0000000000000000000000' }],
  ['a prompt that is no identifier', { promptId: 'nonsense' }],
  ['an identifier of another kind', { promptId: prompt.versionIds[0] }],
  ['a version that is not there', { promptVersionId: 'ver_01jd0000000000000000000000' }],
  ['a version that is no identifier', { promptVersionId: '' }],
  ['a version of another prompt', { promptVersionId: other.versionIds[0] }],
];
for (const [what, input] of unknown) {
  test(`404 for ${what}`, async () => {
    const { key } = await service.key();
    const response = await service.call('POST', path, { key, body: { ...body, ...input } });
    assert.deepEqual([response.status, response.body.code], [404, 'NOT_FOUND']);
  });
}

for (const number of ['1e400', '-1e400', '1e-400', '9007199254740993', '12345678901234567890']) {
  test(`400 for the default ${number}, which would lose precision`, async () => {
    const { key } = await service.key();
    const values = `{"optional":[1,{"deep":${number}}]}`;
    const text = `${JSON.stringify(body).slice(0, -1)},"defaultVariableValues":${values}}`;
    const response = await service.call('POST', path, { key, body: text });
    assert.deepEqual([response.status, response.body.code], [400, 'INVALID_REQUEST']);
    assert.match(response.body.message, new RegExp(`number ${number} .*as a string`));
    const asText = text.replace(number, `"${number}"`);
    const taken = await service.call('POST', path, { key, body: asText });
    assert.equal(taken.status, 201);
    assert.equal(taken.body.defaultVariableValues.optional[1].deep, number);
  });
}

test('404 for a prompt of another workspace', async () => {
  const { workspaceId, ownerId: userId } = await service.workspace();
  const { key } = await service.key({ workspaceId, userId });
  const response = await service.call('POST', path, { key, body });
  assert.deepEqual([response.status, response.body.code], [404, 'NOT_FOUND']);
});

test('403 for a key that is restricted to agents', async () => {
  const { agentId } = await addAgent(service);
  const { key } = await service.key({ agentIds: [agentId] });
  const response = await service.call('POST', path, { key, body });
  assert.deepEqual([response.status, response.body.code], [403, 'PERMISSION_DENIED']);
});
