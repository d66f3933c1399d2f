import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeAgent, makePrompt } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';
import { invalidSchemas, uncompiledSchemas } from '../../../../harness/tool-server.ts';

const service = await startService();
after(service.close);

const messages = [
  { role: 'system', content: 'Be {{tone}}.' },
  { placeholder: 'history' },
  { role: 'user', content: '{{question}} {{my-var}}' },
  {
    role: 'user',
    content: [{ text: 'Of {{whom}}:' }, { image: '{{photo}}' }, { file: '{{ contract }}' }],
  },
];
// The order of properties is what a model sees.
const properties = { zone: { type: 'string' }, a: { type: 'string' } };
const content = {
  messages,
  tools: [
    { name: 'weather', description: 'Now', parameters: { type: 'object', properties } },
    { name: 'time' },
  ],
  toolChoice: { tool: 'time' },
};

test('returns messages and tools as given, beside the short form of other versions', async () => {
  const { key } = await service.key();
  const { path } = await makePrompt(service, { system: 'S', user: 'U' });
  const body = { model: 'cueline/echo', ...content };
  const made = await service.call('POST', `${path}/versions`, { key, body });
  assert.equal(made.status, 201);
  const versionPath = `${path}/versions/${made.body.promptVersionId}`;
  const got = await service.call('GET', versionPath, { key });
  assert.deepEqual(got.body, made.body);
  const { system, user, variables, warnings, ...rest } = got.body;
  for (const [name, value] of Object.entries(content)) {
    assert.equal(JSON.stringify(rest[name]), JSON.stringify(value), name);
  }
  assert.deepEqual([system, user], [null, null]);
  const names = ['tone', 'history', 'question', 'whom', 'photo', 'contract'];
  assert.deepEqual(variables, names);
  assert.deepEqual(warnings, [{ placeholder: '{{my-var}}', template: 'messages' }]);
  const { versions } = (await service.call('GET', `${path}/versions`, { key })).body;
  const [, short] = versions;
  const shown = await service.call('GET', `${path}/versions/${short.promptVersionId}`, { key });
  assert.deepEqual([shown.body.system, shown.body.user], ['S', 'U']);
  assert.ok(!('messages' in shown.body) && !('tools' in shown.body));
});

test('parameters that only models need to understand are accepted', async () => {
  const tools = uncompiledSchemas.map((parameters, n) => ({ name: `t${n}`, parameters }));
  const { key } = await service.key();
  const { path } = await makePrompt(service);
  const body = { user: 'U', tools };
  const created = await service.call('POST', `${path}/versions`, { key, body });
  assert.deepEqual([created.status, created.body.tools], [201, tools]);
});

test('rejects contents that contradict each other or are malformed', async () => {
  const { key } = await service.key();
  const { path } = await makePrompt(service);
  const user = { role: 'user', content: 'a' };
  const invalid: [object, RegExp][] = [
    [{}, /"user" is missing/],
    [{ messages: null }, /"user" is missing/],
    [{ messages: [user], user: 'U' }, /"messages" excludes/],
    [{ messages: [user], system: 'S' }, /"messages" excludes/],
    [{ messages: [] }, /messages/],
    [{ messages: [{ role: 'tool', content: 'a' }] }, /role/],
    [{ messages: [{ role: 'user' }] }, /content/],
    [{ messages: [{ role: 'user', content: '' }] }, /content/],
    [{ messages: [{ role: 'user', content: [] }] }, /content/],
    [{ messages: [{ role: 'user', content: [{ image: 'photo' }] }] }, /content/],
    [{ messages: [{ role: 'user', content: [{ image: 'https://a.example/{{b}}' }] }] }, /content/],
    [{ messages: [{ role: 'user', content: [{ text: 'a', image: '{{b}}' }] }] }, /content/],
    [{ messages: [{ role: 'user', content: [{ audio: '{{b}}' }] }] }, /content/],
    [{ messages: [{ role: 'system', content: [{ image: '{{b}}' }] }] }, /"messages.0.content"/],
    [{ messages: [{ role: 'user', content: [{ text: '{{b}}' }, { file: '{{b}}' }] }] }, /"b" is/],
    [{ messages: [{ placeholder: 'my-var' }] }, /messages/],
    [{ messages: [{ ...user, placeholder: 'a' }] }, /placeholder/],
    [{ user: 'U', tools: [] }, /tools/],
    [{ user: 'U', tools: [{ name: 'a b' }] }, /tools/],
    [{ user: 'U', tools: [{ name: 'a', parameters: 'x' }] }, /parameters/],
    ...invalidSchemas.map(([parameters, place]): [object, RegExp] => [
      { user: 'U', tools: [{ name: 'a' }, { name: 'b', parameters }] },
      new RegExp(`^Field "tools.1.parameters" .* at ${RegExp.escape(place)}: `),
    ]),
    [{ user: 'U', toolChoice: 'auto' }, /needs "tools"/],
    [{ user: 'U', tools: [{ name: 'a' }], toolChoice: 'never' }, /toolChoice/],
    [{ user: 'U', tools: [{ name: 'a' }], toolChoice: { tool: 'b' } }, /none of "tools"/],
    [{ user: 'U', tools: [{ name: 'a' }, { name: 'a' }] }, /twice/],
  ];
  for (const [fields, message] of invalid) {
    const body = { model: 'cueline/echo', ...fields };
    const { status, body: error } = await service.call('POST', `${path}/versions`, { key, body });
    assert.equal(status, 400, JSON.stringify(fields));
    assert.match(error.message, message, JSON.stringify(fields));
  }
});

test('a default of a message list must be a list of messages', async () => {
  const { key } = await service.key();
  const prompt = await makePrompt(service, { messages: [{ placeholder: 'history' }] });
  const pin = { promptId: prompt.promptId, promptVersionId: prompt.versionIds[0] };
  const create = (history: unknown) =>
    service.call('POST', '/api/v1/agents', {
      key,
      body: { agentName: 'A', ...pin, defaultVariableValues: { history } },
    });
  const refused = await create('text');
  assert.equal(refused.status, 400);
  assert.match(refused.body.message, /defaultVariableValues\.history" must be a list of messages/);
  assert.equal((await create([{ role: 'user', content: 'Hi' }])).status, 201);
  assert.equal((await create(null)).status, 201);
});

test('a declaration contains them, and other messages under the same label are a conflict', async () => {
  const { key } = await service.key();
  const name = 'With messages';
  const version = { label: 'one', ...content, model: 'cueline/echo' };
  const agents = [{ name: 'Declared', prompt: name, version: 'one' }];
  const apply = (versions: object[]) =>
    service.call('POST', '/api/v1/declaration', {
      key,
      body: { declaration: { prompts: [{ name, versions }], agents } },
    });
  const first = await apply([version]);
  assert.equal(first.status, 200, JSON.stringify(first.body));
  assert.deepEqual((await apply([version])).body.changes, []);
  for (const [field, value] of Object.entries({
    messages: messages.toReversed(),
    tools: [...content.tools].reverse(),
    toolChoice: 'auto',
  })) {
    const conflict = await apply([{ ...version, [field]: value }]);
    assert.equal(conflict.status, 409);
    assert.match(conflict.body.message, new RegExp(`another ${field}\\.`));
  }
  const { declaration } = (await service.call('GET', '/api/v1/declaration', { key })).body;
  const found = declaration.prompts.find((prompt: { name: string }) => prompt.name === name);
  assert.equal(JSON.stringify(found.versions), JSON.stringify([version]));
});

test('an agent requires the message list like any other variable', async () => {
  const prompt = await makePrompt(service, { messages });
  const { key } = await service.key();
  const { path } = await makeAgent(service, prompt, { optionalVariables: ['tone'] });
  const agent = await service.call('GET', path, { key });
  const required = ['history', 'question', 'whom', 'photo', 'contract'];
  assert.deepEqual(agent.body.requiredVariables, required);
});
