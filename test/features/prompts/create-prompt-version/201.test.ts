import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeAgent, makePrompt } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';
import { fromId, toId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);

test('creates a version with all fields, and returns its location', async () => {
  const prompt = await makePrompt(service);
  const { key } = await service.key();
  const body = {
    ...{ label: 'polite', system: 'Be {{tone}}.', user: 'Greet {{ name }}, {{tone}}ly.' },
    ...{ model: 'openai/gpt-5.5', temperature: 0.7, maxTokens: 200, topP: 0.25, notes: 'Why' },
  };
  const created = await service.call('POST', `${prompt.path}/versions`, { key, body });
  assert.equal(created.status, 201);
  const { promptVersionId, createdAt, ...rest } = created.body;
  const { label, ...given } = body;
  assert.deepEqual(rest, {
    ...{ ...given, promptVersionLabel: label, number: 1, promptId: prompt.promptId },
    responseFormat: null,
    variableSchemas: {},
    ...{ variables: ['tone', 'name'], warnings: [], createdBy: toId('user', service.ownerId) },
  });
  const path = `${prompt.path}/versions/${promptVersionId}`;
  assert.equal(created.headers.get('location'), path);
  assert.deepEqual((await service.call('GET', path, { key })).body, created.body);
});

test('lists invalid placeholders by template', async () => {
  const { path } = await makePrompt(service);
  const { key } = await service.key();
  const body = {
    system: '{{ok}} {{my-var}} {{größe}}',
    user: '{{my-var}} {{user.name}} {{ x | upper }} {{1st}} {{}} {{my-var}} {{\nok\n}} {{{ok}}} {{ ok\t}} {ok} { {ok} }',
  };
  const made = await service.call('POST', `${path}/versions`, { key, body });
  assert.equal(made.status, 201);
  const of = (template: string, ...texts: string[]) =>
    texts.map((placeholder) => ({ placeholder, template }));
  assert.deepEqual(made.body.warnings, [
    ...of('system', '{{my-var}}', '{{größe}}'),
    ...of(
      'user',
      '{{my-var}}',
      '{{user.name}}',
      '{{ x | upper }}',
      '{{1st}}',
      '{{}}',
      '{{\nok\n}}',
    ),
  ]);
  assert.deepEqual(made.body.variables, ['ok']);
  const many = Array.from({ length: 300 }, (_, n) => `{{v-${n}}}`).join('');
  const more = await service.call('POST', `${path}/versions`, { key, body: { user: many } });
  assert.equal(more.body.warnings.length, 100);
});

test('lists patterns of the schema for the output that are not checked, also later', async () => {
  const { path } = await makePrompt(service);
  const { key } = await service.key();
  const pattern = '^(?!x)[a-z]+$';
  const schema = {
    type: 'object',
    properties: { code: { type: 'string', pattern }, to: { format: 'email', pattern } },
  };
  const body = { user: '{{my-var}}', responseFormat: { type: 'json', schema } };
  const made = await service.call('POST', `${path}/versions`, { key, body });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const [placeholder, warning, ...others] = made.body.warnings;
  assert.deepEqual([placeholder.placeholder, others], ['{{my-var}}', []]);
  assert.match(
    warning,
    /^Field "responseFormat\.schema" has a pattern at \/properties\/code\/pattern that is not checked/,
  );
  assert.deepEqual(made.body.responseFormat.schema, schema);
  const got = await service.call('GET', `${path}/versions/${made.body.promptVersionId}`, { key });
  assert.deepEqual(got.body.warnings, made.body.warnings);
});

test('schemas of variables must check each pattern, unless a known format is beside it', async () => {
  const { path } = await makePrompt(service);
  const { key } = await service.key();
  const create = (schema: object) => {
    const body = { user: '{{to}}', variableSchemas: { to: schema } };
    return service.call('POST', `${path}/versions`, { key, body });
  };
  const pattern = '^(?!x).*$';
  const refused = await create({ type: 'string', pattern });
  assert.equal(refused.status, 400);
  assert.match(
    refused.body.message,
    /"variableSchemas\.to" is not a valid JSON schema at \/pattern/,
  );
  assert.equal((await create({ type: 'string', pattern, format: 'own' })).status, 400);
  const made = await create({ type: 'string', pattern, format: 'email' });
  assert.deepEqual([made.status, made.body.warnings], [201, []]);
});

test('omitted fields are null; the default label contains the number', async () => {
  const { path } = await makePrompt(service);
  const { key } = await service.key();
  for (const body of [{ user: 'x' }, { user: 'x', system: null, model: null, notes: null }]) {
    const { body: version } = await service.call('POST', `${path}/versions`, { key, body });
    assert.equal(version.promptVersionLabel, `v${version.number}`);
    const { system, model, temperature, maxTokens, topP, notes, variables } = version;
    assert.deepEqual(
      [system, model, temperature, maxTokens, topP, notes],
      [null, null, null, null, null, null],
    );
    assert.deepEqual(variables, []);
  }
});

test('concurrent versions without a label get free labels', async () => {
  const { path } = await makePrompt(service, { user: 'x', label: 'v2' });
  const { key } = await service.key();
  const add = async (label?: string) => {
    const body = { user: 'x', ...(label !== undefined && { label }) };
    const created = await service.call('POST', `${path}/versions`, { key, body });
    assert.equal(created.status, 201);
    return [created.body.number, created.body.promptVersionLabel];
  };
  assert.deepEqual(await add(), [2, 'v2-2']);
  // Labels are case-sensitive and compared in full.
  for (const label of ['V7', 'v70', 'v7-2', 'v7']) await add(label);
  assert.deepEqual(await add(), [7, 'v7-3']);
  await add('v9');
  const created = await Promise.all([add(), add(), add()]);
  assert.deepEqual(
    created.toSorted(([one], [other]) => one - other),
    [
      [9, 'v9-2'],
      [10, 'v10'],
      [11, 'v11'],
    ],
  );
});

test('templates are stored unchanged, up to the maximum length', async () => {
  const { path } = await makePrompt(service);
  const { key } = await service.key();
  const system = '  {{ a }}\r\n\t"\\ ünï 👩‍🚀 $x {{not a name}}';
  const user = `{{b}}${'x'.repeat(262_144 - 5)}`;
  const body = { system, user };
  const { body: created } = await service.call('POST', `${path}/versions`, { key, body });
  assert.deepEqual([created.system, created.user, created.variables], [system, user, ['a', 'b']]);
});

test('concurrent versions get consecutive numbers in each prompt', async () => {
  const { path } = await makePrompt(service);
  const { key } = await service.key();
  const add = (body: object) => service.call('POST', `${path}/versions`, { key, body });
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, i) => add({ user: 'x', ...(i % 4 === 0 && { label: 'same' }) })),
  );
  const created = responses.filter(({ status }) => status === 201).map(({ body }) => body.number);
  assert.deepEqual(
    created.sort((a, b) => a - b),
    Array.from({ length: 16 }, (_, i) => i + 1),
  );
  assert.equal(responses.filter(({ status }) => status === 409).length, 4);
  const prompt = (await service.call('GET', path, { key })).body;
  assert.deepEqual([prompt.versionCount, prompt.latestVersion.number], [16, 16]);
});

test('labels are unique within their prompt', async () => {
  const { key } = await service.key();
  for (const { path } of [await makePrompt(service), await makePrompt(service)]) {
    const body = { user: 'x', label: 'first' };
    assert.equal((await service.call('POST', `${path}/versions`, { key, body })).status, 201);
  }
});

test('a key that is limited to an agent adds versions to its prompt', async () => {
  const prompt = await makePrompt(service, { user: 'x' });
  const { agentId } = await makeAgent(service, prompt);
  const { key } = await service.key({ agentIds: [agentId], permissions: ['manage'] });
  const version = { key, body: { user: 'y' } };
  const { status, body } = await service.call('POST', `${prompt.path}/versions`, version);
  assert.deepEqual([status, body.number], [201, 2]);
});

test('the database rejects changes to a version', async () => {
  const { versionIds } = await makePrompt(service, { user: 'x' });
  const id = fromId('version', versionIds[0] ?? '');
  for (const change of ["user_template = 'y'", "label = 'z'", 'number = 7', 'created_at = now()']) {
    const update = sql`update prompt_versions set ${sql.raw(change)} where id = ${id}`;
    await assert.rejects(update.execute(service.db), /a prompt version is immutable/);
  }
  const other = await service.member('editor');
  const claim = sql`update prompt_versions set created_by = ${other} where id = ${id}`;
  await assert.rejects(claim.execute(service.db), /a prompt version is immutable/);
});

test('a version outlives its author’s account', async () => {
  const user = await service.member('editor');
  const { path } = await makePrompt(service);
  const { body } = await service.call('POST', `${path}/versions`, { user, body: { user: 'x' } });
  assert.equal(body.createdBy, toId('user', user));
  await sql`delete from users where id = ${user}`.execute(service.db);
  const { key } = await service.key();
  const read = await service.call('GET', `${path}/versions/${body.promptVersionId}`, { key });
  assert.equal(read.body.createdBy, null);
});
