import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makePrompt } from '../../../harness/prompts.ts';
import { startService } from '../../../harness/service.ts';

const service = await startService();
after(service.close);

async function create(prompt: Awaited<ReturnType<typeof makePrompt>>, input: object = {}) {
  const { key } = await service.key();
  const pin = { promptId: prompt.promptId, promptVersionId: prompt.versionIds[0] };
  return service.call('POST', '/api/v1/agents', {
    key,
    body: { agentName: 'A', ...pin, ...input },
  });
}

test('409 for variable lists without some placeholders, naming them', async () => {
  const prompt = await makePrompt(service, { system: '{{c}}', user: '{{a}} {{b}} {{d}}' });
  const { status, body } = await create(prompt, {
    requiredVariables: ['a'],
    defaultVariableValues: { d: null },
  });
  assert.deepEqual([status, body.code], [409, 'UNDECLARED_VARIABLES']);
  assert.deepEqual(body.undeclaredVariables, ['c', 'b']);
  const declared = { requiredVariables: ['a'], optionalVariables: ['b', 'c', 'd'] };
  assert.equal((await create(prompt, declared)).status, 201);
});

test('409 for an archived prompt', async () => {
  const prompt = await makePrompt(service, { user: 'x' });
  const { key } = await service.key();
  await service.call('POST', `${prompt.path}/archive`, { key });
  const { status, body } = await create(prompt);
  assert.deepEqual([status, body.code], [409, 'CONFLICT']);
  await service.call('POST', `${prompt.path}/restore`, { key });
  assert.equal((await create(prompt)).status, 201);
});
