import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type AgentOptions, addAgent } from '../../../../harness/agents.ts';
import { makeAgent, makePrompt } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const prompt = await makePrompt(
  service,
  { user: '{{a}}' },
  { system: '{{c}}', user: '{{a}}{{b}}' },
);

test('409 for a version with undeclared placeholders; the agent is unchanged', async () => {
  const agent = await makeAgent(service, prompt);
  const before = await service.call('GET', agent.path, { key });
  const body = { promptVersionId: prompt.versionIds[1], agentName: 'Half-way' };
  const response = await service.call('PATCH', agent.path, { key, body });
  assert.deepEqual([response.status, response.body.code], [409, 'UNDECLARED_VARIABLES']);
  assert.deepEqual(response.body.undeclaredVariables, ['c', 'b']);
  const now = await service.call('GET', agent.path, { key });
  assert.deepEqual(now.body, before.body);
  assert.equal(now.headers.get('etag'), before.headers.get('etag'));
  const { pagination } = (await service.call('GET', `${agent.path}/pins`, { key })).body;
  assert.equal(pagination.total, 1);
});

test('409 for variable lists without a placeholder of the pinned version', async () => {
  const agent = await makeAgent(service, prompt, {
    ...{ requiredVariables: [], defaultVariableValues: { a: 1 } },
  });
  for (const body of [{ defaultVariableValues: {} }, { defaultVariableValues: { b: 1 } }]) {
    const response = await service.call('PATCH', agent.path, { key, body });
    assert.deepEqual([response.status, response.body.undeclaredVariables], [409, ['a']]);
  }
  const moved = { defaultVariableValues: {}, optionalVariables: ['a'] };
  assert.equal((await service.call('PATCH', agent.path, { key, body: moved })).status, 200);
});

const closed: [what: string, options: AgentOptions, allowed: string[]][] = [
  ['Draft', { stage: 'Draft' }, ['enable-api', 'archive']],
  ['Paused', { stage: 'Paused' }, ['re-enable', 'archive']],
  ['archived', { stage: 'Testing', archived: true }, ['restore']],
];
for (const [what, options, allowed] of closed) {
  for (const apiEnabled of [true, false]) {
    test(`409 for switching the API ${apiEnabled ? 'on' : 'off'} of an agent that is ${what}`, async () => {
      const { path } = await addAgent(service, options);
      const body = { apiEnabled, agentName: 'Half-way' };
      const response = await service.call('PATCH', path, { key, body });
      assert.deepEqual([response.status, response.body.code], [409, 'ILLEGAL_TRANSITION']);
      assert.deepEqual(response.body.allowedActions, allowed);
      assert.equal((await service.call('GET', path, { key })).body.agentName, 'Agent');
    });
  }
}

test('404 for a version that its prompt does not have', async () => {
  const agent = await makeAgent(service, prompt);
  const other = await makePrompt(service, { user: 'x' });
  for (const promptVersionId of [
    'ver_01jd0000000000000000000000',
    'nonsense',
    agent.prompt.promptId,
    other.versionIds[0],
  ]) {
    const body = { promptVersionId };
    const response = await service.call('PATCH', agent.path, { key, body });
    assert.deepEqual([response.status, response.body.code], [404, 'NOT_FOUND']);
  }
});

test('400 for what only the versions show; the agent is unchanged', async () => {
  const versions = await makePrompt(service, { user: '{{a}}' }, { user: '{{a}}', model: null });
  const agent = await makeAgent(service, versions, { optionalVariables: ['b'] });
  const modelless = await makeAgent(
    service,
    { ...versions, versionIds: versions.versionIds.slice(1) },
    { agentConfig: { model: 'cueline/echo' } },
  );
  for (const [of, change, named] of [
    [agent, { requiredVariables: ['a', 'b'] }, /: b\./],
    [agent, { promptVersionId: versions.versionIds[1] }, /model/],
    [modelless, { agentConfig: { model: null } }, /model/],
  ] as const) {
    const before = await service.call('GET', of.path, { key });
    const body = { project: 'x', ...change };
    const response = await service.call('PATCH', of.path, { key, body });
    assert.deepEqual([response.status, response.body.code], [400, 'INVALID_REQUEST']);
    assert.match(response.body.message, named);
    assert.deepEqual((await service.call('GET', of.path, { key })).body, before.body);
  }
});
