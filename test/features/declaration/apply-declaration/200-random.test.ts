import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { startService } from '../../../../harness/service.ts';
import { readYaml, toYaml } from '../../../../src/cli/client/yaml.ts';
import { reasoningEfforts } from '../../../../src/core/agent/call-settings.ts';
import { fallbackCodes } from '../../../../src/core/agent/fallback.ts';

/** What `cueline pull` writes, applied to an empty workspace, is pulled again equal, whatever became of its agents. */

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
    label.map((each) => each.trim()),
    content,
    some({
      ...{ ...callSettings, ...modelSettings, responseFormat, notes: text },
      tools: schema.map((parameters) => [{ name: 'find', description: 'Finds.', parameters }]),
      variableSchemas: fc.dictionary(
        fc.constantFrom('b', 'a'),
        fc.oneof(schema, fc.constantFrom(true, { type: 'string', maxLength: 9 })),
      ),
    }),
  )
  .map(([label, shown, settings]) => ({ label, ...shown, ...settings, model: 'cueline/echo' }));
const prompt = fc.tuple(
  some({ description: text, visibility: fc.constantFrom('private', 'public') }),
  fc.uniqueArray(version, {
    ...{ minLength: 1, maxLength: 3 },
    comparator: (one, other) => one.label === other.label,
  }),
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
    some({
      slug: fc.constantFrom('own-slug', '1', 'x_y'),
      aliases: fc.uniqueArray(fc.constantFrom('pmpt_b', 'pmpt_B', '..a', 'old:name', 'ID')),
      versionAliases: fc.uniqueArray(fc.constantFrom('10', '9'), { maxLength: 2 }),
    }),
  )
  .map(([fields, pinned, isRequired, ids]) => ({ fields, pinned, isRequired, ids }));

/** What happens to an agent after workflows name it. Changes that its stage does not allow are refused. */
const changes = fc.array(
  fc.constantFrom(
    { action: 'disable' },
    { action: 'rollback' },
    { action: 'archive' },
    { apiEnabled: false },
    { optionalVariables: [], requiredVariables: ['a', 'b', 'c', 'history', 'photo'] },
  ),
  { maxLength: 3 },
);

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
  changes: fc.array(changes, { maxLength: 2 }),
});
type Generated = typeof workspace extends fc.Arbitrary<infer T> ? T : never;

function declarationOf({ names, prompts, agents, workflows }: Generated) {
  const declaredPrompts = prompts.map(([fields, versions], at) => ({
    ...{ name: `P${at}`, ...fields },
    versions,
  }));
  const declaredAgents = names.slice(0, agents.length).flatMap((name, at) => {
    const { fields, pinned, isRequired, ids } = agents[at] as (typeof agents)[number];
    const { name: of, versions = [] } = declaredPrompts[at % declaredPrompts.length] ?? {};
    const label = versions[pinned % versions.length]?.label;
    const others = ['history', 'photo'];
    return {
      ...{ name, prompt: of, version: label, ...fields },
      ...(isRequired
        ? { requiredVariables: ['b', 'a'], optionalVariables: others }
        : { optionalVariables: ['a', 'b', ...others] }),
      ...(at === 0 && {
        ...ids,
        ...(ids.versionAliases && {
          versionAliases: Object.fromEntries(
            ids.versionAliases.map((number) => [number, versions[0]?.label]),
          ),
        }),
      }),
    };
  });
  const [called, ...rest] = declaredAgents.filter(
    ({ stage, apiEnabled = true }) => stage !== undefined || !apiEnabled,
  );
  const variables = { a: 'x', b: '{{input.note}}' };
  const declaredWorkflows = workflows.flatMap(([fields, input, options, extra], at) => {
    if (!called) return [];
    const { fallback, ...others } = options;
    const other = rest[0] ?? called;
    const instead = fallback === 'agent' ? { agent: other.name, variables } : fallback;
    return {
      ...{ name: `W ${at}`, ...fields, input: { ...input, optional: ['note'] } },
      steps: [
        { name: 'one', agent: called.name, variables: { ...extra, ...variables } },
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
      const omitted = body.omitted as { kind: string; name: string }[];
      return { declaration: body.declaration as object, omitted };
    },
    /** Changes the agents in turn. Returns the names of those with which no workflow can be created. */
    async change(changes: readonly (readonly object[])[]) {
      const unusable = new Set<string>();
      const { agents } = (await service.call('GET', '/api/v1/agents', { key })).body;
      for (const [at, { agentName, agentId }] of agents.entries()) {
        for (const body of changes[at] ?? []) {
          const url = `/api/v1/agents/${agentId}`;
          const { status, body: changed } = await ('action' in body
            ? service.call('POST', `${url}/lifecycle`, { key, body })
            : service.call('PATCH', url, { key, body }));
          if (status === 409) continue;
          assert.equal(status, 200, JSON.stringify(changed));
          if (changed.archived || changed.requiredVariables.includes('photo'))
            unusable.add(agentName);
        }
      }
      return unusable;
    },
  };
}

test('what is pulled, applied to an empty workspace, is pulled again equal', async () => {
  const property = fc.asyncProperty(workspace, async (generated) => {
    const [first, second] = [await emptyWorkspace(), await emptyWorkspace()];
    const declared = declarationOf(generated);
    await first.apply(declared);
    const unusable = await first.change(generated.changes);
    const { declaration, omitted } = await first.pull();
    const left = declared.workflows.filter(({ steps }) =>
      steps.some(({ agent }) => unusable.has(agent)),
    );
    assert.deepEqual(
      omitted.map(({ kind, name }) => [kind, name]),
      left.map(({ name }) => ['workflow', name]),
    );
    assert.deepEqual(await first.apply(declaration), []);
    const written = toYaml(declaration);
    await second.apply(readYaml(written, 'cueline.yaml').value);
    const again = await second.pull();
    assert.deepEqual([toYaml(again.declaration), again.omitted], [written, []]);
  });
  await fc.assert(property, { numRuns: 40 });
});
