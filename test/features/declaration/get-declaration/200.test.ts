import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/declaration';

/** Creates a workspace with this declaration; returns its agents by name. */
async function holding(declaration: object) {
  const { workspaceId, ownerId: userId } = await service.workspace();
  const { key } = await service.key({ workspaceId, userId });
  const call = async (method: string, at: string, body?: object) => {
    const response = await service.call(method, at, body ? { key, body } : { key });
    assert.ok(response.status < 300, `${method} ${at} ${JSON.stringify(response.body)}`);
    return response.body;
  };
  await call('POST', path, { declaration });
  const { agents } = await call('GET', '/api/v1/agents');
  const ids = new Map(agents.map((one: Record<string, string>) => [one.agentName, one.agentId]));
  return { call, idOf: (name: string) => String(ids.get(name)) };
}

type Call = Awaited<ReturnType<typeof holding>>['call'];

const prompt = (name: string) => ({
  name,
  versions: [{ label: 'v1', user: 'x', model: 'cueline/echo' }],
});
const agent = (name: string, built: string) => ({
  name,
  ...{ prompt: built, version: 'v1', stage: 'Deployed' },
});
const workflow = (name: string, ...agents: string[]) => ({
  name,
  steps: agents.map((one, at) => ({ name: `s${at}`, agent: one })),
});

/** The names in the declaration that is read; checks that applying it changes nothing. */
async function readBack(call: Call) {
  const { declaration, omitted } = await call('GET', path);
  assert.deepEqual((await call('POST', path, { declaration })).changes, []);
  const names = (rows: { name: string }[]) => rows.map(({ name }) => name);
  const { prompts, agents, workflows } = declaration;
  return { kept: [names(prompts), names(agents), names(workflows)], omitted };
}

const omission = (kind: string, name: string, reason: string) => ({ kind, name, reason });

test('an ambiguous name is omitted, with everything that refers to it', async () => {
  const { call, idOf } = await holding({
    prompts: [prompt('One'), prompt('Twice')],
    agents: [agent('Fine', 'One'), agent('Lost', 'Twice'), agent('Pair', 'One')],
    workflows: [
      workflow('kept', 'Fine'),
      workflow('lost', 'Fine', 'Lost'),
      workflow('pair', 'Pair'),
    ],
  });
  await call('POST', '/api/v1/prompts', { name: 'Twice' });
  const { promptId, promptVersionId } = await call('GET', `/api/v1/agents/${idOf('Fine')}`);
  await call('POST', '/api/v1/agents', { agentName: 'Pair', promptId, promptVersionId });
  assert.deepEqual(await readBack(call), {
    kept: [['One'], ['Fine'], ['kept']],
    omitted: [
      omission('agent', 'Pair', 'There are 2 agents with this name.'),
      omission('prompt', 'Twice', 'There are 2 prompts with this name.'),
      omission('agent', 'Lost', 'Its prompt "Twice" is omitted.'),
      omission('workflow', 'lost', 'Its agent "Lost" is omitted.'),
      omission('workflow', 'pair', 'Its agent "Pair" is omitted.'),
    ],
  });
});

test('an active prompt takes precedence over an archived one of the same name, whose agents are omitted', async () => {
  const { call, idOf } = await holding({
    prompts: [prompt('Old'), prompt('Alone')],
    agents: [agent('Built', 'Old'), agent('Other', 'Alone')],
  });
  for (const name of ['Built', 'Other']) {
    const { promptId } = await call('GET', `/api/v1/agents/${idOf(name)}`);
    await call('POST', `/api/v1/prompts/${promptId}/archive`);
  }
  await call('POST', '/api/v1/prompts', { name: 'Old' });
  assert.deepEqual(await readBack(call), {
    kept: [['Alone', 'Old'], ['Other'], []],
    omitted: [
      omission('agent', 'Built', 'Its prompt "Old" is archived, and another one has that name.'),
    ],
  });
});

test('a workflow with an archived or deleted agent is omitted', async () => {
  const { call, idOf } = await holding({
    prompts: [prompt('One')],
    agents: [agent('Shelved', 'One'), agent('Gone', 'One')],
    workflows: [workflow('a', 'Shelved'), workflow('b', 'Gone')],
  });
  const [shelved, gone] = [idOf('Shelved'), idOf('Gone')].map((id) => `/api/v1/agents/${id}`);
  await call('POST', `${shelved}/lifecycle`, { action: 'disable' });
  await call('POST', `${shelved}/lifecycle`, { action: 'archive' });
  await call('POST', `${gone}/lifecycle`, { action: 'disable' });
  await call('DELETE', String(gone));
  assert.deepEqual(await readBack(call), {
    kept: [['One'], [], []],
    omitted: [
      omission('workflow', 'a', 'Its agent "Shelved" is archived.'),
      omission('workflow', 'b', 'One of its agents was deleted.'),
    ],
  });
});

test('a workflow that can no longer be created is omitted; one with an inactive agent is not', async () => {
  const { call, idOf } = await holding({
    prompts: [prompt('One')],
    agents: [agent('Asks', 'One'), agent('Paused', 'One')],
    workflows: [workflow('asks', 'Paused', 'Asks'), workflow('paused', 'Paused')],
  });
  await call('POST', `/api/v1/agents/${idOf('Paused')}/lifecycle`, { action: 'disable' });
  await call('PATCH', `/api/v1/agents/${idOf('Asks')}`, { requiredVariables: ['city'] });
  const reason = 'Step "s1": The agent "Asks" requires variables that are not set: city.';
  assert.deepEqual(await readBack(call), {
    kept: [['One'], ['Asks', 'Paused'], ['paused']],
    omitted: [omission('workflow', 'asks', reason)],
  });
});

test('a key for some agents learns which names are ambiguous', async () => {
  const { call, idOf } = await holding({
    prompts: [prompt('One'), prompt('Twice')],
    agents: [agent('Mine', 'Twice'), agent('Other', 'One')],
  });
  await call('POST', '/api/v1/prompts', { name: 'Twice' });
  const body = { name: 'K', agentIds: [idOf('Mine')], permissions: ['manage'] };
  const { key } = await call('POST', '/api/v1/keys', body);
  const { declaration, omitted } = (await service.call('GET', path, { key })).body;
  assert.deepEqual(declaration, { prompts: [], agents: [], workflows: [] });
  assert.deepEqual(omitted, [
    omission('prompt', 'Twice', 'There are 2 prompts with this name.'),
    omission('agent', 'Mine', 'Its prompt "Twice" is omitted.'),
  ]);
});
