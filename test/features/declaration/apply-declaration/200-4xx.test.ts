import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const path = '/api/v1/declaration';

const declared = {
  prompts: [
    {
      name: 'Triage',
      description: 'Sorts tickets.',
      versions: [
        { label: 'v1', user: 'Sort {{ticket}}', model: 'cueline/echo' },
        {
          label: 'short',
          system: 'Be brief.',
          user: '{{ticket}}',
          temperature: 0.5,
          model: 'cueline/echo',
        },
      ],
    },
  ],
  agents: [
    {
      ...{ name: 'Sorter', prompt: 'Triage', version: 'v1', stage: 'Deployed' },
      ...{ visibility: 'public', agentConfig: { maxAttempts: 2, temperature: 0.1 } },
      ...{ tags: ['support'], rateLimits: { requestsPerMinute: 60 } },
    },
  ],
  workflows: [
    {
      name: 'sort',
      input: { required: ['ticket'] },
      steps: [
        {
          ...{ name: 'one', agent: 'Sorter', variables: { ticket: '{{input.ticket}}' } },
          fallback: { output: 'none' },
        },
        {
          ...{ name: 'two', agent: 'Sorter', variables: { ticket: '{{steps.one.output}}' } },
          fallback: { agent: 'Sorter', variables: { ticket: 'x' } },
        },
      ],
    },
  ],
};
type Declared = typeof declared;

async function apply(declaration: object, dryRun = false) {
  return service.call('POST', path, { key, body: { declaration, dryRun } });
}

function changed(edit: (copy: Declared) => void): Declared {
  const copy = structuredClone(declared);
  edit(copy);
  return copy;
}

const changesOf = ({ body }: { body: { changes: Record<string, unknown>[] } }) =>
  body.changes.map(({ kind, name, action, field, to }) =>
    [kind, name, action, field, to].filter((one) => one !== undefined),
  );

test('a dry run reports the changes and applies none', async () => {
  const dry = await apply(declared, true);
  assert.deepEqual([dry.status, dry.body.applied], [200, false]);
  assert.deepEqual(changesOf(dry), [
    ['prompt', 'Triage', 'create'],
    ['prompt', 'Triage', 'add-version', 'v1'],
    ['prompt', 'Triage', 'add-version', 'short'],
    ['agent', 'Sorter', 'create'],
    ['agent', 'Sorter', 'move', 'stage', 'Deployed'],
    ['workflow', 'sort', 'create'],
  ]);
  for (const list of ['prompts', 'agents', 'workflows']) {
    const { body } = await service.call('GET', `/api/v1/${list}`, { key });
    assert.equal(body.pagination.total, 0, list);
  }
  const applied = await apply(declared);
  assert.deepEqual([applied.body.applied, applied.body.changes], [true, dry.body.changes]);
});

test('applying a declaration again, or the one that was read, changes nothing', async () => {
  assert.deepEqual((await apply(declared)).body.changes, []);
  const read = await service.call('GET', path, { key });
  assert.deepEqual(read.body.omitted, []);
  assert.deepEqual((await apply(read.body.declaration)).body.changes, []);
  const text = JSON.stringify(read.body);
  assert.ok(!/"(agt|prm|ver|wfl|wfv)_/.test(text), text);
});

test('a declaration creates the same resources in another workspace', async () => {
  const { workspaceId, ownerId: userId } = await service.workspace();
  const there = await service.key({ workspaceId, userId });
  const { declaration } = (await service.call('GET', path, { key })).body;
  const body = { declaration };
  assert.equal((await service.call('POST', path, { key: there.key, body })).status, 200);
  const read = await service.call('GET', path, { key: there.key });
  assert.deepEqual(read.body.declaration, declaration);
});

test('each difference is reported and applied: settings, version, stage, definition', async () => {
  const other = changed(({ prompts, agents, workflows }) => {
    Object.assign(prompts[0] ?? {}, { description: 'Other.' });
    Object.assign(agents[0] ?? {}, { version: 'short', agentConfig: { maxAttempts: 3 }, tags: [] });
    Object.assign(workflows[0] ?? {}, { output: '{{steps.one.output}}', enabled: false });
  });
  assert.deepEqual(changesOf(await apply(other)), [
    ['prompt', 'Triage', 'change', 'description', 'Other.'],
    ['agent', 'Sorter', 'change', 'agentConfig', { maxAttempts: 3 }],
    ['agent', 'Sorter', 'change', 'tags', []],
    ['agent', 'Sorter', 'pin', 'version', 'short'],
    ['workflow', 'sort', 'pin', 'definition', 'v2'],
    ['workflow', 'sort', 'change', 'enabled', false],
  ]);
  assert.deepEqual((await apply(other)).body.changes, []);
  const { agents } = (await service.call('GET', '/api/v1/agents', { key })).body;
  assert.deepEqual(
    [agents[0].agentConfig, agents[0].promptVersionLabel, agents[0].status],
    [{ maxAttempts: 3 }, 'short', 'Deployed'],
  );
  await apply(declared);
});

test('the order of names within a value is a difference, because a model sees it', async () => {
  const ordered = (value: object) =>
    changed(({ agents, workflows }) => {
      Object.assign(agents[0] ?? {}, {
        optionalVariables: ['form', 'tone'],
        defaultVariableValues: { tone: 'kind', form: value },
      });
      Object.assign(workflows[0]?.steps[0]?.variables ?? {}, { form: value });
    });
  await apply(ordered({ b: 1, a: 2 }));
  const other = await apply(ordered({ a: 2, b: 1 }));
  assert.deepEqual(changesOf(other), [
    ['agent', 'Sorter', 'change', 'defaultVariableValues', { tone: 'kind', form: { a: 2, b: 1 } }],
    ['workflow', 'sort', 'pin', 'definition', 'v5'],
  ]);
  assert.deepEqual((await apply(ordered({ a: 2, b: 1 }))).body.changes, []);
  const { declaration } = (await service.call('GET', path, { key })).body;
  assert.deepEqual(Object.keys(declaration.agents[0].defaultVariableValues.form), ['a', 'b']);
  assert.deepEqual((await apply(declaration)).body.changes, []);
  await apply(declared);
});

test('nothing is applied if one change is rejected, and the message names it', async () => {
  const cases: [Declared, number, RegExp][] = [
    [
      changed(({ prompts }) => {
        Object.assign(prompts[0]?.versions[0] ?? {}, { user: 'Other {{ticket}}' });
      }),
      409,
      /^The prompt "Triage": Version "v1" exists with another user/,
    ],
    [
      changed(({ prompts }) => {
        const user = Array.from({ length: 201 }, (_, n) => `{{v${n}}}`).join(' ');
        prompts[0]?.versions.push({ label: 'many', user, model: 'cueline/echo' });
      }),
      400,
      /^The prompt "Triage": The templates have 201 placeholders; at most 200 are allowed/,
    ],
    [
      changed(({ prompts }) => {
        const user = `{{${'v'.repeat(101)}}}`;
        prompts[0]?.versions.push({ label: 'long', user, model: 'cueline/echo' });
      }),
      400,
      /^The prompt "Triage": The placeholder "v{100}…" is longer than 100 characters/,
    ],
    [
      changed(({ agents, prompts }) => {
        prompts.push({ name: 'New', description: 'x', versions: [] });
        Object.assign(agents[0] ?? {}, { version: 'v9' });
      }),
      400,
      /^The agent "Sorter": The prompt "Triage" has no version "v9"/,
    ],
    [
      changed(({ agents }) => {
        Object.assign(agents[0] ?? {}, { stage: 'Draft' });
      }),
      409,
      /^The agent "Sorter": It cannot move to stage Draft/,
    ],
    [
      changed(({ workflows }) => {
        Object.assign(workflows[0]?.steps[0] ?? {}, { agent: 'Nobody' });
      }),
      400,
      /^The workflow "sort": There is no agent "Nobody"/,
    ],
    [
      changed(({ workflows }) => {
        Object.assign(workflows[0]?.steps[0] ?? {}, { variables: {} });
      }),
      400,
      /^The workflow "sort": Step "one": The agent "Sorter" requires/,
    ],
    [
      changed(({ agents }) => {
        agents.push(...structuredClone(agents));
      }),
      400,
      /"Sorter" is declared twice/,
    ],
  ];
  for (const [declaration, status, message] of cases) {
    for (const dryRun of [true, false]) {
      const refused = await apply(declaration, dryRun);
      assert.equal(refused.status, status, JSON.stringify(refused.body));
      assert.match(refused.body.message, message);
    }
  }
  assert.deepEqual((await apply(declared)).body.changes, []);
  const { body } = await service.call('GET', '/api/v1/prompts', { key });
  assert.equal(body.pagination.total, 1);
});

test('examples stay in the file: their form is checked, and nothing of them is stored', async () => {
  const withExamples = (...examples: object[]) =>
    changed(({ agents }) => Object.assign(agents[0] ?? {}, { examples }));
  const example = { variables: { ticket: 'x' }, expect: { equals: { a: [1] }, cel: 'true' } };
  const applied = await apply(withExamples(example));
  assert.deepEqual([applied.status, applied.body.changes], [200, []]);
  const { declaration } = (await service.call('GET', path, { key })).body;
  assert.equal('examples' in declaration.agents[0], false);
  const wrong = await apply(withExamples(example, { variables: {}, expect: { equal: 1 } }), true);
  assert.equal(wrong.status, 400);
  assert.match(wrong.body.message, /^Unknown field ".*agents\.0\.examples\.1\.expect\.equal"/);
});

test('a workflow is created and changed with an agent that the declaration itself leaves inactive', async () => {
  const { workspaceId, ownerId: userId } = await service.workspace();
  const { key: keyThere } = await service.key({ workspaceId, userId });
  const applyThere = (agent: object, workflow: object = {}) => {
    const [agents, workflows] = [
      [{ ...declared.agents[0], ...agent }],
      [{ ...declared.workflows[0], ...workflow }],
    ];
    const body = { declaration: { ...declared, agents, workflows } };
    return service.call('POST', path, { key: keyThere, body });
  };
  const forgotten = await applyThere({ stage: undefined });
  assert.deepEqual([forgotten.status, forgotten.body.code], [400, 'INVALID_WORKFLOW']);
  assert.match(forgotten.body.message, /"Sorter" is in stage Draft, not Deployed/);
  const inactive = [
    { stage: 'Draft' },
    { stage: 'Testing' },
    { stage: 'Paused' },
    { apiEnabled: false },
  ];
  for (const [at, agent] of inactive.entries()) {
    const unset = await applyThere(agent, {
      timeoutMs: 60_000 + at,
      output: '{{steps.none.output}}',
    });
    assert.deepEqual([unset.status, unset.body.problems.length], [400, 1]);
    const { status, body } = await applyThere(agent, { timeoutMs: 60_000 + at });
    assert.equal(status, 200, body.message);
    const { declaration } = (await service.call('GET', path, { key: keyThere })).body;
    assert.equal(declaration.workflows[0].timeoutMs, 60_000 + at);
  }
  const { agents } = (await service.call('GET', '/api/v1/agents', { key: keyThere })).body;
  for (const action of ['disable', 'archive']) {
    const at = `/api/v1/agents/${agents[0].agentId}/lifecycle`;
    assert.equal((await service.call('POST', at, { key: keyThere, body: { action } })).status, 200);
  }
  const archived = await applyThere({ stage: undefined, apiEnabled: false });
  assert.deepEqual([archived.status, archived.body.code], [400, 'INVALID_WORKFLOW']);
  assert.match(archived.body.message, /"Sorter" is archived/);
});

test('a workflow version gets another label if its label is taken', async () => {
  const { workflows } = (await service.call('GET', '/api/v1/workflows', { key })).body;
  const at = `/api/v1/workflows/${workflows[0].workflowId}`;
  const { definition, number } = (await service.call('GET', at, { key })).body;
  const taken = { definition, label: `v${number + 2}` };
  assert.equal((await service.call('POST', `${at}/versions`, { key, body: taken })).status, 201);
  const next = changed(({ workflows: [one] }) => Object.assign(one ?? {}, { timeoutMs: 5_000 }));
  const expected = [['workflow', 'sort', 'pin', 'definition', `${taken.label}-2`]];
  assert.deepEqual(changesOf(await apply(next, true)), expected);
  assert.deepEqual(changesOf(await apply(next)), expected);
  assert.equal(
    (await service.call('GET', at, { key })).body.workflowVersionLabel,
    `${taken.label}-2`,
  );
  await apply(declared);
});

test('an ambiguous name is rejected', async () => {
  await service.call('POST', '/api/v1/prompts', { key, body: { name: 'Triage' } });
  const refused = await apply({ prompts: [{ name: 'Triage', versions: [] }] });
  assert.deepEqual([refused.status, refused.body.code], [409, 'CONFLICT']);
  assert.match(refused.body.message, /There are 2 prompts/);
});

test('concurrent declarations are serialized', async () => {
  const twice = { prompts: [{ name: 'Once', versions: [{ label: 'a', user: 'x' }] }] };
  const responses = await Promise.all([apply(twice), apply(twice), apply(twice)]);
  assert.deepEqual(responses.map(({ body }) => body.changes.length).sort(), [0, 0, 2]);
});
