import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { inherited } from '../../../harness/environment.ts';
import { startService } from '../../../harness/service.ts';
import { apply, importFolder } from './imported.ts';

const root = join(import.meta.dirname, '../../..');
const service = await startService();
after(service.close);
const { key } = await service.key();

const replies = `# Copied from the dashboard
- id: pmpt_reply
  version: 2
  name: Support reply
  description: Answers tickets
  model: gpt-5.1
  instructions: |
    You are {{tone}}.
    Never say {{my-var}}.
  input:
    - role: user
      content:
        - type: input_text
          text: "{{customer_name}} asks: {{issue}}"
  variables:
    customer_name: Acme
    issue: { type: input_text, text: billing }
    my-var: x
  temperature: 3
  top_p: 0.5
  max_output_tokens: 400
  reasoning: { effort: low, summary: auto }
  text:
    format: { type: json_schema, name: reply, schema: { type: object } }
    verbosity: low
  tools:
    - type: web_search
    - { type: function, name: find_order, parameters: { type: object } }
  tool_choice: auto
  store: true
- id: pmpt_reply
  version: "1"
  model: gpt-5.1
  instructions: You are {{tone}}.
- id: pmpt_reply
  version: 1
  instructions: The same version again.
- id: pmpt_unknown
`;

test('versions of one prompt become one agent with an alias; remarks name their lines', async (t) => {
  const folder = importFolder(t, { 'prompts.yaml': replies });
  const imported = await folder.run('openai-prompts', 'prompts.yaml');
  assert.deepEqual([imported.code, imported.stdout], [0, '']);
  assert.deepEqual(imported.remarks.map((line) => line.slice(0, 62)).toSorted(), [
    'Wrote cueline.yaml: prompts: 1, agents: 1.',
    'prompts.yaml:15: The values of the variables become defaults, ',
    'prompts.yaml:18: The variable "my-var" is not carried over: na',
    'prompts.yaml:19: "temperature" is not carried over. Field "tem',
    'prompts.yaml:22: "summary" is not carried over.',
    'prompts.yaml:27: The tool "web_search" is not carried over: on',
    'prompts.yaml:30: "store" is not carried over.',
    'prompts.yaml:31: pmpt_reply pins v2: calls with version 1 are ',
    'prompts.yaml:35: pmpt_reply has the version "v1" twice: the se',
    'prompts.yaml:38: pmpt_unknown is left out: it has neither "ins',
    'prompts.yaml:9: {{my-var}} is no placeholder here: it is sent ',
  ]);
  const [prompt] = imported.prompts;
  assert.deepEqual(
    prompt?.versions.map(({ label }) => label),
    ['v1', 'v2'],
  );
  assert.deepEqual(prompt?.versions[1], {
    label: 'v2',
    system: 'You are {{tone}}.\nNever say {{my-var}}.\n',
    user: '{{customer_name}} asks: {{issue}}',
    model: 'openai/gpt-5.1',
    ...{ topP: 0.5, maxTokens: 400, reasoningEffort: 'low', toolChoice: 'auto' },
    responseFormat: { type: 'json', schema: { type: 'object' } },
    providerOptions: { openai: { textVerbosity: 'low' } },
    tools: [{ name: 'find_order', parameters: { type: 'object' } }],
  });
  // Without an input, the messages of the call are the conversation.
  assert.deepEqual(prompt?.versions[0]?.messages?.[1], { placeholder: 'input' });
  assert.deepEqual(imported.agents, [
    {
      ...{ name: 'Support reply', slug: 'support-reply', aliases: ['pmpt_reply'] },
      ...{ prompt: 'Support reply', version: 'v2', stage: 'Deployed' },
      versionAliases: { 1: 'v1', 2: 'v2' },
      defaultVariableValues: { customer_name: 'Acme', issue: 'billing' },
      description: 'Answers tickets',
    },
  ]);
  await apply(service, key, imported);
});

test('code that calls a prompt of OpenAI by its id and version keeps working', async (t) => {
  const prompts = [
    { id: 'pmpt_tides', version: '7', model: 'gpt-5.1', input: 'Explain {{topic}}.' },
    { id: 'pmpt_chat', model: 'gpt-5.1', instructions: 'Be short.' },
  ];
  const folder = importFolder(t, {
    'prompts.json': JSON.stringify({ object: 'list', data: prompts }, null, '\t'),
  });
  const imported = await folder.run('openai-prompts', 'prompts.json');
  assert.deepEqual(imported.remarks, ['Wrote cueline.yaml: prompts: 2, agents: 2.']);
  await apply(service, key, imported);
  for (const [body, answer] of [
    [
      { prompt: { id: 'pmpt_tides', version: '7', variables: { topic: 'tides' } } },
      'Explain tides.',
    ],
    [{ prompt: { id: 'pmpt_chat' }, input: 'And waves?' }, 'And waves?'],
  ] as const) {
    const { status, body: response } = await service.call('POST', '/v1/responses', { key, body });
    assert.deepEqual(
      [status, response.output?.[0]?.content[0].text],
      [200, answer],
      JSON.stringify(response),
    );
  }
});

test('a request with a prompt in it, an image, and names that collide are imported', async (t) => {
  const image = { type: 'input_image', image_url: 'https://example.com/a.png' };
  const prompts: object[] = [
    {
      prompt: { prompt_id: 'pmpt_a', variables: { photo: image } },
      name: 'Look!',
      model: 'gpt-5.1',
      input: 'See {{photo}} now',
    },
    {
      id: 'pmpt_b',
      name: 'Look?',
      model: 'gpt-5.1',
      instructions: [{ role: 'developer', content: 'Hi' }],
      input: 'x',
    },
    { id: 'pmpt_c', name: 'Look?', model: 'gpt-5.1', input: 'y', constructor: 'x' },
    { id: 'pmpt_d', name: '日本', input: 'z' },
  ];
  const folder = importFolder(t, { 'prompts.json': JSON.stringify(prompts) });
  const imported = await folder.run(
    'openai-prompts',
    'prompts.json',
    '--model',
    'anthropic/claude-opus-5',
  );
  assert.deepEqual(
    imported.agents.map(({ name, slug }) => [name, slug]),
    [
      ['Look!', 'look'],
      ['Look?', 'look-2'],
      ['Look? 2', 'look-2-2'],
      ['日本', 'agent'],
    ],
  );
  assert.deepEqual(imported.prompts[0]?.versions[0]?.messages, [
    { role: 'user', content: [{ text: 'See ' }, { image: '{{photo}}' }, { text: ' now' }] },
  ]);
  assert.ok(imported.remarks.includes('prompts.json:1: "constructor" is not carried over.'));
  assert.deepEqual(imported.prompts[1]?.versions[0], {
    label: 'v1',
    system: 'Hi',
    user: 'x',
    model: 'openai/gpt-5.1',
  });
  assert.deepEqual(imported.agents[3]?.agentConfig, { model: 'anthropic/claude-opus-5' });
  await apply(service, key, imported);
});

test('an existing cueline.yaml is overwritten with --force only, and by nothing that is wrong', async (t) => {
  const folder = importFolder(t, {
    'cueline.yaml': 'prompts: []\n',
    'prompts.yaml': 'id: pmpt_x\ninput: Hi\n',
  });
  const file = join(folder.path, 'cueline.yaml');
  const refused = await folder.run('openai-prompts', 'prompts.yaml');
  assert.deepEqual([refused.code, readFileSync(file, 'utf8')], [1, 'prompts: []\n']);
  assert.match(
    refused.remarks.join(),
    /^cueline: cueline\.yaml exists in this folder\..*--force\.$/,
  );
  for (const [text, problem] of [
    ['id: [', /^cueline: prompts\.yaml:1: Not valid YAML or JSON: /],
    [
      '- id: pmpt_x\n  input: a\n- input: b\n',
      /^cueline: prompts\.yaml:3: The prompt has no "id"\.$/,
    ],
    ['- text\n', /^cueline: prompts\.yaml:1: Expected a prompt object/],
    ['id: pmpt_x\n', /There is no prompt to import\.$/],
    [
      'id: pmpt_x\ninput: a\nseed: 12345678901234567890\n',
      /The number 12345678901234567890 cannot be stored exactly/,
    ],
  ] as const) {
    writeFileSync(join(folder.path, 'prompts.yaml'), text);
    const { code, remarks } = await folder.run('openai-prompts', 'prompts.yaml', '--force');
    assert.deepEqual([code, readFileSync(file, 'utf8')], [1, 'prompts: []\n'], text);
    assert.match(remarks.at(-1) ?? '', problem);
  }
  writeFileSync(join(folder.path, 'prompts.yaml'), 'id: pmpt_x\ninput: Hi\n');
  const { code, agents, remarks } = await folder.run('openai-prompts', 'prompts.yaml', '--force');
  // Without a model, it would only repeat the prompt.
  assert.deepEqual(
    [code, agents[0]?.stage, agents[0]?.agentConfig],
    [0, 'Draft', { model: 'cueline/echo' }],
  );
  assert.match(remarks[0] ?? '', /^prompts\.yaml:1: No model is known for "pmpt_x"/);
});

test('what a server would refuse is named with its line, and the exit code says so', async (t) => {
  const input = 'x'.repeat(262_145);
  const folder = importFolder(t, {
    'prompts.json': JSON.stringify({ id: 'pmpt_x', model: 'gpt-5.1', input }),
  });
  const { code, remarks } = await folder.run('openai-prompts', 'prompts.json');
  assert.equal(code, 1);
  assert.match(remarks.at(-2) ?? '', /^cueline\.yaml:5: A server refuses this\. .*user/);
  assert.equal(remarks.at(-1), 'cueline: cueline.yaml cannot be applied as it is.');
});

test('more than one apply takes is written, and the exit code says so', async (t) => {
  const input = 'x'.repeat(250_000);
  const prompts = Array.from({ length: 5 }, (_, n) => ({
    id: `pmpt_${n}`,
    model: 'gpt-5.1',
    input,
  }));
  const folder = importFolder(t, { 'prompts.json': JSON.stringify(prompts) });
  const { code, remarks } = await folder.run('openai-prompts', 'prompts.json');
  assert.equal(code, 1);
  assert.match(
    remarks.at(-1) ?? '',
    /^cueline: The declaration has \d{7} bytes, but one apply accepts 1048576\. Split it into several files: each agent with its prompt/,
  );
  assert.ok(readFileSync(join(folder.path, 'cueline.yaml')).length > 1_048_576);
});

test('run by npm, it reads and writes in the folder of the caller', async (t) => {
  const prompt = JSON.stringify({ id: 'pmpt_x', model: 'gpt-5.1', input: 'Hi' });
  const { path } = importFolder(t, { 'prompts.json': prompt });
  const args = ['run', '-s', '--prefix', root, 'cueline', '--', 'import', 'openai-prompts'];
  const env = inherited();
  const { status, stderr } = spawnSync('npm', [...args, 'prompts.json'], { cwd: path, env });
  assert.equal(status, 0, String(stderr));
  assert.match(readFileSync(join(path, 'cueline.yaml'), 'utf8'), /pmpt_x/);
});

test('the file in the docs is imported and applies', async (t) => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/import.md'), 'utf8');
  const [, text = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(page) ?? [];
  const imported = await importFolder(t, { 'docs.yaml': text }).run('openai-prompts', 'docs.yaml');
  assert.equal(imported.code, 0);
  assert.match(
    imported.remarks.join('\n'),
    /^docs\.yaml:9: The values .*\nWrote cueline\.yaml: prompts: 1, agents: 1\.$/,
  );
  const { workspaceId, ownerId: userId } = await service.workspace();
  await apply(service, (await service.key({ workspaceId, userId })).key, imported);
});
