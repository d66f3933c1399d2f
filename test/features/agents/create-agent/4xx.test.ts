import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makePrompt } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';

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

test('404 for a prompt or version that does not exist, and for a version of another prompt', async () => {
  const [prompt, other] = [
    await makePrompt(service, { user: 'x' }),
    await makePrompt(service, { user: 'y' }),
  ];
  for (const unknown of [
    { promptId: 'prm_01jd0000000000000000000000' },
    { promptId: 'nonsense' },
    { promptId: prompt.versionIds[0] },
    { promptVersionId: 'ver_01jd0000000000000000000000' },
    { promptVersionId: '' },
    { promptVersionId: other.versionIds[0] },
  ]) {
    const { status, body } = await create(prompt, unknown);
    assert.deepEqual([status, body.code], [404, 'NOT_FOUND']);
  }
});

test('a default that would lose precision as a number is accepted as a string', async () => {
  const prompt = await makePrompt(service, { user: 'x' });
  const number = '9007199254740993';
  const created = await create(prompt, {
    defaultVariableValues: { optional: [1, { deep: number }] },
  });
  assert.equal(created.status, 201);
  assert.equal(created.body.defaultVariableValues.optional[1].deep, number);
});

test('400 for what only the version shows, and nothing is created', async () => {
  const prompt = await makePrompt(service, { user: 'Hi {{name}}' }, { user: 'x', model: null });
  for (const [input, named] of [
    [{ requiredVariables: ['name', 'x'], optionalVariables: ['x'] }, /: x\./],
    [{ promptVersionId: prompt.versionIds[1] }, /"agentConfig\.model"/],
    [{ agentConfig: { model: 'a/b', models: ['a/b', 'a/c'] } }, /exclude/],
  ] as const) {
    const { status, body } = await create(prompt, { ...input, tags: ['refused'] });
    assert.deepEqual([status, body.code], [400, 'INVALID_REQUEST']);
    assert.match(body.message, named);
  }
  const { key } = await service.key();
  const { body } = await service.call('GET', '/api/v1/agents?tag=refused', { key });
  assert.equal(body.pagination.total, 0);
});
