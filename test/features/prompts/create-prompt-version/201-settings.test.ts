import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeAgent, makePrompt } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);

const settings = {
  ...{ reasoningEffort: 'low', stop: ['END', '###'], seed: 7, topK: 40 },
  ...{ presencePenalty: 0.5, frequencyPenalty: -0.5, cachePrompt: true, serviceTier: 'flex' },
  providerOptions: { openai: { textVerbosity: 'low' }, mine: { list: [1, { b: 1, a: null }] } },
};

test('returns the settings as given, in lists too; absent ones are absent', async () => {
  const { key } = await service.key();
  const { path } = await makePrompt(service, { user: 'Hi' }, { user: 'Hi', ...settings });
  const { versions } = (await service.call('GET', `${path}/versions`, { key })).body;
  const [newest, oldest] = versions;
  for (const [name, value] of Object.entries(settings)) {
    assert.deepEqual(newest[name], value, name);
    assert.ok(!(name in oldest), name);
  }
  const single = await service.call('GET', `${path}/versions/${newest.promptVersionId}`, { key });
  assert.deepEqual(single.body.providerOptions, settings.providerOptions);
  const text = { key, body: { user: 'Hi', model: 'cueline/echo', stop: 'END', seed: null } };
  const made = await service.call('POST', `${path}/versions`, text);
  assert.deepEqual([made.status, made.body.stop, 'seed' in made.body], [201, 'END', false]);
});

test('rejects invalid values', async () => {
  const { key } = await service.key();
  const { path } = await makePrompt(service);
  const invalid: Record<string, unknown[]> = {
    reasoningEffort: ['a lot', 1],
    stop: [[], [''], '', 1, [1]],
    seed: [1.5, '7'],
    topK: [0, 1.5],
    presencePenalty: [3, '1'],
    frequencyPenalty: [-2.1],
    cachePrompt: ['true'],
    serviceTier: ['', 1],
    providerOptions: [[], 'x', { openai: 1 }, { openai: [] }],
  };
  for (const [name, values] of Object.entries(invalid)) {
    for (const value of values) {
      const body = { user: 'Hi', model: 'cueline/echo', [name]: value };
      const { status, body: error } = await service.call('POST', `${path}/versions`, { key, body });
      assert.equal(status, 400, JSON.stringify(body));
      assert.match(error.message, new RegExp(name), error.message);
    }
  }
});

test('the call gets the settings of the agent, else those of the version', async () => {
  const { key } = await service.key();
  const prompt = await makePrompt(service, { user: 'Hi', ...settings });
  const agentConfig = { seed: 8, topK: 5, providerOptions: { google: { a: 1 } } };
  const agent = await makeAgent(service, prompt, { agentConfig });
  const patch = { key, body: { agentConfig: { topK: null, stop: 'STOP' } } };
  const patched = await service.call('PATCH', agent.path, patch);
  const { topK: _, ...kept } = agentConfig;
  assert.deepEqual(patched.body.agentConfig, { ...kept, stop: 'STOP' });
  await service.call('POST', `${agent.path}/lifecycle`, { key, body: { action: 'enable-api' } });
  service.models.script({ text: 'done', settingsNotApplied: ['seed', 'topK'] });
  const accepted = await service.call('POST', `${agent.path}/execute`, {
    key,
    body: { variables: {} },
  });
  const ended = await service.call('GET', `${accepted.body.statusUrl}?wait=30`, { key });
  assert.deepEqual(ended.body.settingsNotApplied, ['seed', 'topK']);
  assert.deepEqual(service.models.calls.at(-1)?.settings, {
    ...settings,
    ...{ seed: 8, stop: 'STOP', providerOptions: { google: { a: 1 } } },
  });
});

test('a declaration contains the settings, and another value for a label is a conflict', async () => {
  const { key } = await service.key();
  const name = 'With settings';
  const version = { label: 'one', user: 'Hi', model: 'cueline/echo', ...settings };
  const apply = (versions: object[]) =>
    service.call('POST', '/api/v1/declaration', {
      key,
      body: { declaration: { prompts: [{ name, versions }] } },
    });
  assert.equal((await apply([version])).status, 200);
  assert.deepEqual((await apply([version])).body.changes, []);
  const conflict = await apply([{ ...version, seed: 9 }]);
  assert.equal(conflict.status, 409);
  assert.match(conflict.body.message, /another seed/);
  const { declaration } = (await service.call('GET', '/api/v1/declaration', { key })).body;
  const found = declaration.prompts.find((prompt: { name: string }) => prompt.name === name);
  assert.deepEqual(found.versions, [version]);
});
