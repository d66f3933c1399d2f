import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { startService } from '../../../harness/service.ts';
import { fromYaml, toYaml } from '../../../src/cli/client/yaml.ts';
import { reasoningEfforts } from '../../../src/core/agent/call-settings.ts';
import { fallbackCodes } from '../../../src/core/model/fallback.ts';

/** What `cueline pull` writes, applied to an empty workspace, is pulled again equal. */

const service = await startService();
after(service.close);
const path = '/api/v1/declaration';

/** A text that YAML might read as something else, or that is plain. */
const text = fc
  .oneof(
    fc.constantFrom(
      'yes',
      'null',
      '1e3',
      '0x1F',
      '~',
      '- a',
      'a: b',
      '# x',
      "it's",
      'a\n  b\n',
      '"q"',
    ),
    fc.constantFrom(' x ', 'é\u{1f642}', '{a}', 'line\r\nline', '---', '|', '<<', '2026-11-28'),
    fc.string({ minLength: 1, maxLength: 20 }).filter((value) => value.trim() !== ''),
  )
  .map((value) => value.toWellFormed().replaceAll('\u0000', '0').replaceAll('{{', '{'));
/** On one line, and visible. */
const label = fc.oneof(
  fc.constantFrom(
    'yes',
    'null',
    '1e3',
    '~',
    '- a',
    'a: b',
    '# x',
    "it's",
    '"q"',
    '---',
    '2026-11-28',
  ),
  fc
    .string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 12 })
    .filter((each) => /^\S/.test(each)),
);
const longText = fc.oneof(
  text,
  fc.tuple(text, text).map((pair) => pair.join('\n')),
);
const number = fc.oneof(fc.integer(), fc.constantFrom(0.1, 1e21, 1.5e-7, 123456789012));
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    fc.oneof(text, number, fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('b', 'a', '10', '2', 'x y', 'é'), tie('value'), { maxKeys: 3 }),
  ),
})).value;
const schema = fc.constantFrom(
  {
    type: 'object',
    properties: { z: { type: 'string' }, a: { type: 'integer' } },
    required: ['z'],
  },
  {
    type: 'object',
    additionalProperties: false,
    properties: { '10': {}, '9': { enum: ['b', null] } },
  },
);
const model = fc.constantFrom(
  'cueline/echo',
  'openai/gpt-5.5',
  'anthropic/claude-opus-5',
  'own/m:1',
);
const models = fc.uniqueArray(model, { minLength: 1, maxLength: 3 });
const callSettings = {
  reasoningEffort: fc.constantFrom(...reasoningEfforts),
  stop: fc.oneof(text, fc.array(text, { minLength: 1, maxLength: 2 })),
  seed: fc.integer({ min: -5, max: 5 }),
  topK: fc.integer({ min: 1, max: 40 }),
  presencePenalty: fc.constantFrom(-2, 0, 0.5),
  cachePrompt: fc.boolean(),
  serviceTier: fc.constant('flex'),
  providerOptions: fc.record({
    openai: fc.dictionary(fc.constantFrom('b', 'a'), json, { maxKeys: 2 }),
  }),
};
const modelSettings = {
  temperature: fc.constantFrom(0, 0.7, 2),
  maxTokens: fc.integer({ min: 1, max: 500 }),
  topP: fc.constantFrom(0, 0.25, 1),
};
const responseFormat = schema.map((each) => ({ type: 'json', schema: each }));

/** Any of these fields. */
const some = <T>(fields: { [Name in keyof T]: fc.Arbitrary<T[Name]> }) =>
  fc.record(fields, { requiredKeys: [] });

const content = fc.oneof(
  some({ system: longText }).chain((given) =>
    longText.map((user) => ({ ...given, user: `${user} {{a}} {{b}}` })),
  ),
  longText.map((words) => ({
    messages: [
      { role: 'system', content: words },
      { placeholder: 'history' },
      { role: 'user', content: [{ text: '{{a}} {{b}}' }, { image: '{{photo}}' }] },
    ],
  })),
);
const version = fc
  .tuple(
    content,
    some({
      ...{ ...callSettings, ...modelSettings, responseFormat, notes: text },
      tools: fc.constant([{ name: 'find', description: 'Finds.', parameters: { type: 'object' } }]),
      variableSchemas: fc.constant({ b: { type: 'string', maxLength: 9 }, a: true }),
    }),
  )
  .map(([shown, settings]) => ({ ...shown, ...settings, model: 'cueline/echo' }));
const prompt = fc.tuple(
  some({ description: text, visibility: fc.constantFrom('private', 'public') }),
  fc.array(version, { minLength: 1, maxLength: 3 }),
);
const agentConfig = fc
  .tuple(
    fc.oneof(
      fc.constant({}),
      model.map((name) => ({ model: name })),
      models.map((list) => ({ models: list })),
    ),
    some({
      ...{ ...callSettings, ...modelSettings, responseFormat },
      fallbackOn: fc.uniqueArray(fc.constantFrom(...fallbackCodes), { maxLength: 3 }),
      attemptTimeoutMs: fc.integer({ min: 1_000, max: 9_000 }),
      maxAttempts: fc.integer({ min: 1, max: 5 }),
      timeoutMs: fc.integer({ min: 1_000, max: 90_000 }),
      maxConcurrency: fc.integer({ min: 1, max: 9 }),
      stream: fc.boolean(),
    }),
  )
  .map(([called, settings]) => ({ ...settings, ...called }));
const agent = fc
  .tuple(
    some({
      agentConfig,
      description: text,
      defaultVariableValues: some({ a: json, b: text }),
      visibility: fc.constantFrom('private', 'public'),
      rateLimits: some({
        requestsPerMinute: fc.nat(9),
        requestsPerDay: fc.integer({ min: 10, max: 99 }),
      }),
      project: label,
      category: label,
      tags: fc.uniqueArray(fc.constantFrom('b', 'a', 'true', '1'), { maxLength: 3 }),
      allowedOrigins: fc.uniqueArray(fc.constantFrom('https://b.example', 'https://a.example')),
      ...{ storeBodies: fc.boolean(), allowInstructions: fc.boolean(), allowTools: fc.boolean() },
      apiEnabled: fc.boolean(),
      stage: fc.constantFrom('Draft', 'Testing', 'Deployed', 'Paused'),
    }),
    fc.nat(2),
    fc.boolean(),
    fc.option(fc.constantFrom('own-slug', '1', 'x_y')),
  )
  .map(([fields, pinned, isRequired, slug]) => ({ fields, pinned, isRequired, slug }));

/** The names of two resources may give the same slug. */
const names = fc.uniqueArray(
  fc.oneof(
    fc.constantFrom('A b', 'a-b', 'A  b', '!', 'null', '2'),
    label.map((name) => name.trim()),
  ),
  { minLength: 2, maxLength: 4, comparator: (one, other) => one === other },
);
const workflow = fc.tuple(
  some({
    description: text,
    enabled: fc.boolean(),
    timeoutMs: fc.integer({ min: 60_000, max: 70_000 }),
    output: json,
  }),
  some({
    required: fc.constant(['ticket']),
    optional: fc.constant(['note']),
    defaults: some({ note: json }),
  }),
  some({
    when: fc.constant('1 < 2'),
    forEach: fc.oneof(
      fc.constant({ list: ['x', 1] }),
      fc.constant({ list: [], concurrency: 2, max: 5 }),
    ),
    fallback: fc.oneof(
      json.map((output) => ({ output })),
      fc.constant('agent' as const),
    ),
    onFailure: fc.constantFrom('fail', 'continue'),
    onUnreadable: fc.constantFrom('fail', 'null'),
  }),
  fc.dictionary(fc.constantFrom('b', 'a', 'c'), json, { maxKeys: 2 }),
);

const workspace = fc.record({
  names,
  prompts: fc.array(prompt, { minLength: 1, maxLength: 2 }),
  agents: fc.array(agent, { minLength: 1, maxLength: 4 }),
  workflows: fc.array(workflow, { maxLength: 2 }),
});
type Generated = typeof workspace extends fc.Arbitrary<infer T> ? T : never;

function declarationOf({ names, prompts, agents, workflows }: Generated) {
  const declaredPrompts = prompts.map(([fields, versions], at) => ({
    ...{ name: `P${at}`, ...fields },
    versions: versions.map((each, number) => ({ label: `v${number + 1}`, ...each })),
  }));
  const declaredAgents = names.slice(0, agents.length).flatMap((name, at) => {
    const { fields, pinned, isRequired, slug } = agents[at] as (typeof agents)[number];
    const { name: of, versions = [] } = declaredPrompts[at % declaredPrompts.length] ?? {};
    const label = versions[pinned % versions.length]?.label;
    const others = ['history', 'photo'];
    return {
      ...{ name, prompt: of, version: label, ...fields },
      ...(isRequired
        ? { requiredVariables: ['b', 'a'], optionalVariables: others }
        : { optionalVariables: ['a', 'b', ...others] }),
      ...(slug !== null && at === 0 && { slug }),
    };
  });
  const active = declaredAgents.filter(
    ({ stage, apiEnabled = true }) => stage === 'Deployed' && apiEnabled,
  );
  const [called, ...rest] = active;
  const variables = { a: 'x', b: '{{input.note}}' };
  const declaredWorkflows = workflows.flatMap(([fields, input, options, extra], at) => {
    if (!called) return [];
    const { fallback, ...others } = options;
    const other = rest[0] ?? called;
    const instead = fallback === 'agent' ? { agent: other.name, variables } : fallback;
    return {
      ...{ name: `W ${at}`, ...fields, input: { ...input, optional: ['note'] } },
      steps: [
        { name: 'one', agent: called.name, variables: { ...variables, ...extra } },
        {
          ...{ name: 'two', agent: other.name, variables, after: ['one'], ...others },
          ...(instead && { fallback: instead }),
        },
      ],
    };
  });
  return { prompts: declaredPrompts, agents: declaredAgents, workflows: declaredWorkflows };
}

async function emptyWorkspace() {
  const { workspaceId, ownerId: userId } = await service.workspace();
  const { key } = await service.key({ workspaceId, userId });
  return {
    async apply(declaration: unknown) {
      const { status, body } = await service.call('POST', path, { key, body: { declaration } });
      assert.equal(status, 200, JSON.stringify(body));
      return body.changes as object[];
    },
    async pull() {
      const { body } = await service.call('GET', path, { key });
      assert.deepEqual(body.omitted, []);
      return body.declaration as object;
    },
  };
}

test('what is pulled, applied to an empty workspace, is pulled again equal', async () => {
  const property = fc.asyncProperty(workspace, async (generated) => {
    const [first, second] = [await emptyWorkspace(), await emptyWorkspace()];
    await first.apply(declarationOf(generated));
    const pulled = await first.pull();
    assert.deepEqual(await first.apply(pulled), []);
    const written = toYaml(pulled);
    await second.apply(fromYaml(written, 'cueline.yaml'));
    assert.equal(toYaml(await second.pull()), written);
  });
  await fc.assert(property, { numRuns: 40 });
});
