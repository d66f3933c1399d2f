import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../harness/service.ts';
import { apply, importFolder } from './imported.ts';

/** Configurations in the shapes of promptfoo's published examples. */

const service = await startService();
after(service.close);
const { key } = await service.key();

test('texts, two providers and tests: an agent for each pair, with examples', async (t) => {
  const folder = importFolder(t, {
    'promptfooconfig.yaml': `
description: Greetings
prompts:
  - 'Greet {{name}} in {{language}}.'
  - 'Say hello to {{ name }}, {{language}}.'
providers:
  - openai:gpt-4.1
  - id: anthropic:messages:claude-opus-5
    label: claude
    config: { temperature: 0.2, max_tokens: 100, apiKey: sk-secret, thinking: { type: enabled } }
defaultTest:
  vars: { language: French }
  assert:
    - { type: cost, threshold: 0.01 }
    - { type: latency, threshold: 4000 }
tests:
  - description: polite
    vars: { name: Ada }
    assert:
      - { type: contains, value: 'Bonjour {{name}}' }
      - { type: contains, value: Ada }
      - { type: icontains, value: SALUT }
      - { type: not-contains, value: Hello }
      - { type: contains-any, value: [a, b] }
      - { type: llm-rubric, value: is polite }
      - type: javascript
        value: output.length > 3
  - vars: { name: [Bob, Cy], language: German }
    assert: [{ type: equals, value: Hallo }]
    providers: [claude]
sharing: true
`,
  });
  const imported = await folder.run('promptfoo', 'promptfooconfig.yaml');
  assert.equal(imported.code, 0);
  assert.deepEqual(imported.remarks, [
    'promptfooconfig.yaml:31: "sharing" is not carried over.',
    'promptfooconfig.yaml:10: "apiKey" is not carried over: it belongs to the provider, which the workspace stores.',
    'promptfooconfig.yaml:10: "thinking" is not carried over.',
    'promptfooconfig.yaml:25: The assertion "llm-rubric" is not carried over.',
    'promptfooconfig.yaml:26: The assertion "javascript" is not carried over.',
    'Wrote cueline.yaml: prompts: 2, agents: 4.',
  ]);
  assert.doesNotMatch(imported.text + imported.remarks.join(), /sk-secret/);
  assert.deepEqual(
    imported.agents.map(({ name, slug, prompt, agentConfig }) => [name, slug, prompt, agentConfig]),
    ['Greetings 1', 'Greetings 2'].flatMap((prompt) => [
      [
        `${prompt} (openai:gpt-4.1)`,
        `${slug(prompt)}-openai-gpt-4-1`,
        prompt,
        { model: 'openai/gpt-4.1' },
      ],
      [
        `${prompt} (claude)`,
        `${slug(prompt)}-claude`,
        prompt,
        { model: 'anthropic/claude-opus-5', temperature: 0.2, maxTokens: 100 },
      ],
    ]),
  );
  const common = 'record.costUSD <= 0.01 && record.latencyMs <= 4000.0';
  const polite = {
    name: 'polite',
    variables: { name: 'Ada', language: 'French' },
    expect: {
      contains: 'Bonjour Ada',
      cel: `${common} && record.outputText.contains("Ada") && record.outputText.lowerAscii().contains("salut") && !(record.outputText.contains("Hello")) && (record.outputText.contains("a") || record.outputText.contains("b"))`,
    },
  };
  assert.deepEqual(imported.examples['Greetings 1 (openai:gpt-4.1)'], [polite]);
  const hallo = { equals: 'Hallo', cel: common };
  assert.deepEqual(imported.examples['Greetings 1 (claude)'], [
    polite,
    { variables: { name: 'Bob', language: 'German' }, expect: hallo },
    { variables: { name: 'Cy', language: 'German' }, expect: hallo },
  ]);
  await apply(service, key, imported);
});

function slug(name: string): string {
  return name.toLowerCase().replaceAll(' ', '-');
}

test('prompts and tests in files: text parts, chats as JSON and YAML, tables; what Nunjucks adds is said', async (t) => {
  const folder = importFolder(t, {
    'eval/config.yaml': `
prompts:
  - file://prompts/*.txt
  - id: file://prompts/chat.json
    label: chat
  - prompts/steps.yaml
  - file://prompts/make.py:build
  - exec:./make.sh
  - label: listed
    messages:
      - { role: system, content: file://prompts/system.md }
      - { role: user, content: '{{question}}' }
providers:
  - id: ollama:chat:llama3.2
    prompts: [chat]
  - file://provider.yaml
  - file://provider.py
  - vertex:gemini-2.5-pro
  - openai:embedding:text-embedding-3-small
tests:
  - file://tests/cases.csv
  - file://tests/cases.jsonl
  - file://tests/make.js
`,
    'eval/prompts/a.txt':
      'First {{question}}\n---\n\nSecond {{ question | upper }}\n{% if x %}extra{% endif %}\n',
    'eval/prompts/system.md': 'You are kind.{# a note #}\n',
    'eval/prompts/chat.json':
      '[\n  {"role": "system", "content": "Be {{mood}}."},\n  {"role": "user", "content": {{question | dump}}},\n  {"role": "user", "content": "{{user.name}} {{env.HOME}}"}\n]\n',
    'eval/prompts/steps.yaml':
      '- role: user\n  content: Hi {{question}}\n- role: assistant\n  content: Hello\n- role: user\n  content: Go on\n',
    'eval/provider.yaml':
      'id: openai:responses:gpt-5.1\nlabel: five\nconfig:\n  reasoning: { effort: low }\n  response_format: file://schema.json\n',
    'eval/schema.json':
      '{"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}',
    'eval/tests/cases.csv':
      'question,__expected,__expected2,__description\n"Why, ""now""?\nPlease",contains: yes,is-json,multi line\nHow?,similar(0.8): fine,,\n',
    'eval/tests/cases.jsonl':
      '{"vars": {"question": "A"}, "assert": [{"type": "is-json", "value": {"type": "object"}}]}\n\n{"vars": {"question": "B"}}\n',
  });
  const imported = await folder.run('promptfoo', 'eval/config.yaml');
  assert.equal(imported.code, 0, imported.remarks.join('\n'));
  assert.deepEqual(
    imported.remarks.map((line) => line.slice(0, 90)),
    [
      'eval/config.yaml:7: The prompt in eval/prompts/make.py is left out: it is made by a progra',
      'eval/config.yaml:8: The prompt "exec:./make.sh" is left out: it is made by a program or an',
      'eval/prompts/a.txt:5: The control structure {% if x %} is not carried over: it is sent to ',
      'eval/prompts/a.txt:4: The filter "upper" of question is not carried over: the value is ins',
      'eval/prompts/chat.json:4: The expression {{user.name}} is not carried over: it is sent to ',
      'eval/prompts/chat.json:4: The expression {{env.HOME}} is not carried over: it is sent to t',
      'eval/config.yaml:17: The provider "file://provider.py" is left out: it is no model.',
      'eval/config.yaml:18: The model is vertex/gemini-2.5-pro: the workspace needs a provider wi',
      'eval/config.yaml:19: The provider "openai:embedding:text-embedding-3-small" is left out: i',
      'eval/config.yaml:23: The tests in eval/tests/make.js are not carried over: they are made b',
      'eval/tests/cases.csv:4: The assertion "similar" is not carried over.',
      'Wrote cueline.yaml: prompts: 5, agents: 11.',
    ],
  );
  const contents = imported.prompts.map(({ name, versions: [version] }) => [name, version]);
  assert.deepEqual(contents, [
    ['a', { label: 'v1', user: 'First {{question}}' }],
    ['a 2', { label: 'v1', user: 'Second {{question}}\n{% if x %}extra{% endif %}' }],
    [
      'chat',
      {
        label: 'v1',
        messages: [
          { role: 'system', content: 'Be {{mood}}.' },
          { role: 'user', content: '{{question}}' },
          { role: 'user', content: '{{user.name}} {{env.HOME}}' },
        ],
      },
    ],
    [
      'steps',
      {
        label: 'v1',
        messages: [
          { role: 'user', content: 'Hi {{question}}' },
          { role: 'assistant', content: 'Hello' },
          { role: 'user', content: 'Go on' },
        ],
      },
    ],
    ['listed', { label: 'v1', system: 'You are kind.', user: '{{question}}' }],
  ]);
  const format = { type: 'json', schema: { type: 'object' } };
  assert.deepEqual(
    imported.agents
      .filter(({ prompt }) => prompt === 'chat')
      .map(({ name, agentConfig }) => [name, agentConfig]),
    [
      ['chat (ollama:chat:llama3.2)', { model: 'ollama/llama3.2' }],
      ['chat (five)', { model: 'openai/gpt-5.1', reasoningEffort: 'low', responseFormat: format }],
      ['chat (vertex:gemini-2.5-pro)', { model: 'vertex/gemini-2.5-pro' }],
    ],
  );
  const succeeds = { cel: 'record.status == "success"' };
  assert.deepEqual(imported.examples['chat (five)'], [
    {
      name: 'multi line',
      variables: { mood: '', question: 'Why, "now"?\nPlease' },
      expect: { contains: 'yes', matchesSchema: {} },
    },
    { variables: { mood: '', question: 'How?' }, expect: succeeds },
    { variables: { mood: '', question: 'A' }, expect: { matchesSchema: { type: 'object' } } },
    { variables: { mood: '', question: 'B' }, expect: succeeds },
  ]);
  await apply(service, key, imported);
});

test('one chat in the text, files as values, no model: a draft, or the model that is given', async (t) => {
  const config = `
prompts: |-
  [{"role": "system", "content": "Be {{tone}}"}, {"role": "user", "content": "{{ask}}"}]
tests: file://tests.yaml
`;
  const folder = importFolder(t, {
    'c.yaml': config,
    'tests.yaml': '- vars: { tone: file://tone.txt, ask: file://asks.yaml }\n',
    'tone.txt': 'kind',
    'asks.yaml': '[one, two]',
  });
  const draft = await folder.run('promptfoo', 'c.yaml');
  assert.deepEqual(draft.prompts[0]?.versions[0], {
    label: 'v1',
    system: 'Be {{tone}}',
    user: '{{ask}}',
  });
  assert.deepEqual(
    draft.agents.map(({ stage, agentConfig }) => [stage, agentConfig?.model]),
    [['Draft', 'cueline/echo']],
  );
  assert.match(draft.remarks[0] ?? '', /^c\.yaml:2: No model is known for "Prompt": .*--model\.$/);
  const { agents, examples } = await folder.run(
    'promptfoo',
    'c.yaml',
    '--force',
    '--model',
    'openai/gpt-5.5',
  );
  assert.deepEqual(
    agents.map(({ stage, agentConfig }) => [stage, agentConfig?.model]),
    [['Deployed', 'openai/gpt-5.5']],
  );
  assert.deepEqual(
    examples.Prompt?.map(({ variables }) => variables),
    [
      { tone: 'kind', ask: 'one' },
      { tone: 'kind', ask: 'two' },
    ],
  );
  await apply(service, key, draft);
});

test('a configuration that cannot be read, or has no prompt, writes nothing', async (t) => {
  const folder = importFolder(t, {
    'none.yaml': 'providers: [openai:gpt-4.1]\n',
    'list.yaml': '- 1\n',
  });
  for (const [args, problem] of [
    [['none.yaml'], /^cueline: There is no prompt to import\.$/],
    [['list.yaml'], /^cueline: list\.yaml must contain an object with prompts\.$/],
    [['missing.yaml'], /^cueline: Cannot read missing\.yaml: /],
    [['none.yaml', '--model', 'gpt'], /^cueline: --model must be provider\/model/],
  ] as const) {
    const { code, remarks } = await folder.run('promptfoo', ...args);
    assert.equal(code, 1);
    assert.match(remarks.at(-1) ?? '', problem);
  }
});
