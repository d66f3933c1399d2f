import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../../../harness/agents.ts';
import { makeAgent, makePrompt } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';
import { sweepDrafts } from '../../../../src/features/prompts/statements/drafts.ts';

/** Drafts of the playground: executed without a numbered version. */

const service = await startService();
after(service.close);
const { key } = await service.key();
const prompt = await makePrompt(service, { user: 'Hello {{name}}', model: 'cueline/echo' });
const agent = await makeAgent(service, prompt, { visibility: 'public' });
const path = `/api/agents/${agent.agentId}/execute`;
const draft = { system: 'Brief.', user: 'Bye {{name}} from {{place}}', model: 'cueline/echo' };

function execute(body: object, user = service.ownerId, headers = {}) {
  return service.call('POST', path, { user, body: { playground: true, ...body }, headers });
}

async function run(body: object) {
  const accepted = await execute(body);
  assert.equal(accepted.status, 202, JSON.stringify(accepted.body));
  return ended(service, accepted.body.statusUrl, key);
}

const versionOf = (promptVersionId: string) =>
  service.call('GET', `${prompt.path}/versions/${promptVersionId}`, { key });

const drafts = async () => {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from prompt_versions where draft_of is not null`.execute(service.db);
  return rows[0]?.n ?? 0;
};

test('executes the draft instead of the pinned version, which no list shows and no agent can pin', async () => {
  const variables = { name: 'you', place: 'here' };
  const record = await run({ variables, draft: { ...draft, label: 'mine', notes: 'n' } });
  assert.deepEqual(
    [record.output, record.promptVersionLabel, record.systemPrompt, record.status],
    ['Bye you from here', 'draft', 'Brief.', 'success'],
  );
  const { promptVersionId } = record;
  const { body: stored } = await versionOf(promptVersionId);
  assert.deepEqual(
    [stored.number, stored.promptVersionLabel, stored.promptId, stored.user, stored.notes],
    [null, 'draft', prompt.promptId, draft.user, 'n'],
  );
  const { body: listed } = await service.call('GET', `${prompt.path}/versions`, { key });
  assert.deepEqual(
    listed.versions.map((one: { number: number }) => one.number),
    [1],
  );
  const { body: shown } = await service.call('GET', prompt.path, { key });
  assert.equal(shown.versionCount, 1);
  const pin = { key, body: { promptVersionId } };
  assert.equal((await service.call('PATCH', agent.path, pin)).status, 404);
  const { promptId } = prompt;
  const created = { key, body: { agentName: 'A', promptId, promptVersionId } };
  assert.equal((await service.call('POST', '/api/v1/agents', created)).status, 404);
  const pinned = await service.call('GET', agent.path, { key });
  assert.equal(pinned.body.promptVersionLabel, 'v1');
  const next = await service.call('POST', `${prompt.path}/versions`, { key, body: draft });
  assert.deepEqual([next.body.number, next.body.promptVersionLabel], [2, 'v2']);
});

test('drafts that are accepted together keep their own text and settings', async () => {
  const numbers = Array.from({ length: 16 }, (_, index) => index);
  const records = await Promise.all(
    numbers.map((n) =>
      run({
        variables: { name: 'x' },
        draft: { user: `draft ${n}`, model: 'cueline/echo', maxTokens: 100 + n },
      }),
    ),
  );
  assert.deepEqual(
    records.map(({ output }) => output),
    numbers.map((n) => `draft ${n}`),
  );
  const versions = await Promise.all(
    records.map(({ promptVersionId }) => versionOf(promptVersionId)),
  );
  assert.deepEqual(
    versions.map(({ body }) => [body.user, body.maxTokens]),
    numbers.map((n) => [`draft ${n}`, 100 + n]),
  );
});

test('the draft is deleted with its record', async () => {
  const record = await run({ variables: { name: 'x' }, draft });
  const { promptVersionId, executionId } = record;
  assert.equal((await versionOf(promptVersionId)).status, 200);
  const one = `${agent.path}/executions/${executionId}`;
  assert.equal((await service.call('DELETE', one, { key })).status, 204);
  assert.equal((await versionOf(promptVersionId)).status, 404);
});

test('the sweep deletes a draft without an execution, and no other', async () => {
  const kept = await run({ variables: { name: 'x' }, draft });
  // Refused after the draft was stored.
  const refused = await execute({ variables: {}, draft });
  assert.equal(refused.status, 400);
  const unused = await drafts();
  await sweepDrafts(service.db, null, 1_000);
  assert.equal(await drafts(), unused);
  await age(16);
  assert.notEqual(await sweepDrafts(service.db, null, 1), null);
  assert.equal(await sweepDrafts(service.db, null, 1_000), null);
  const after = await drafts();
  assert.ok(after < unused, `${after} of ${unused}`);
  assert.equal((await versionOf(kept.promptVersionId)).status, 200);
});

/** Makes drafts older. */
async function age(minutes: number): Promise<void> {
  const trigger = (state: string) =>
    sql.raw(`alter table prompt_versions ${state} trigger prompt_versions_immutable`);
  await trigger('disable').execute(service.db);
  await sql`
    update prompt_versions set created_at = created_at - ${minutes} * interval '1 minute'
    where draft_of is not null`.execute(service.db);
  await trigger('enable').execute(service.db);
}

test('a draft needs the playground, the permission to save it, and valid fields', async () => {
  const variables = { name: 'x' };
  const before = await drafts();
  for (const [body, named] of [
    [{ variables, draft, playground: false }, /"draft" is possible only with "playground"/],
    [{ variables, draft: 'text' }, /"draft" must be an object/],
    [{ variables, draft: { ...draft, extra: 1 } }, /Unknown field "draft.extra"/],
    [{ variables, draft: { system: 'x' } }, /Field "draft.user" is missing/],
    [
      { variables, draft: { ...draft, tools: [{ name: 'a', parameters: { required: 'a' } }] } },
      /^Field "draft.tools.0.parameters" .* at \/required: /,
    ],
    [{ variables, draft: { user: 'x', messages: [] } }, /"draft/],
    [
      {
        variables,
        draft: { ...draft, responseFormat: { type: 'json', schema: { type: 'none' } } },
      },
      /"draft.responseFormat.schema"/,
    ],
  ] as const) {
    const { status, body: problem } = await execute(body);
    assert.deepEqual([status, problem.code], [400, 'INVALID_REQUEST']);
    assert.match(problem.message, named);
  }
  const executing = await service.key({ permissions: ['execute'] });
  const managing = await service.key({ permissions: ['execute', 'manage'] });
  const deployed = await addAgent(service);
  const call = (by: string, sent: object = draft) =>
    service.call('POST', `${deployed.path}/execute`, {
      ...{ key: by, body: { variables, playground: true, draft: sent } },
    });
  assert.deepEqual((await call(executing.key)).body.code, 'PERMISSION_DENIED');
  assert.equal(await drafts(), before);
  assert.equal((await call(managing.key)).status, 202);
  const viewer = await service.member('viewer');
  assert.equal((await execute({ variables, draft }, viewer)).status, 403);
  const withoutModel = await call(managing.key, { user: 'x' });
  assert.match(withoutModel.body.message, /"draft.model" is missing/);
});

for (const [sent, user, named] of [
  ['a NUL', '"a\\u0000"', /^Field "draft" contains a NUL/],
  ['a lone surrogate', '"a\\udfff"', /^Field "draft" contains a NUL or a lone surrogate/],
  [
    'lists in lists',
    `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
    /^Field "draft" is nested deeper than 128 levels/,
  ],
  ['objects in objects', `${'{"a":'.repeat(129)}1${'}'.repeat(129)}`, /nested deeper/],
  ['a number that no float holds', '"a","maxTokens":12345678901234567890', /lose precision/],
] as const) {
  test(`a draft with ${sent} is refused like a version`, async () => {
    const before = await drafts();
    const body = `{"playground":true,"variables":{"name":"x"},"draft":{"model":"cueline/echo","user":${user}}}`;
    const { status, body: problem } = await service.call('POST', path, {
      ...{ user: service.ownerId, body },
    });
    assert.deepEqual([status, problem.code], [400, 'INVALID_REQUEST']);
    assert.match(problem.message, named);
    assert.equal(await drafts(), before);
  });
}

test('the tools of a draft are named as its fields, and a restricted key sends none', async () => {
  const tools = [{ server: 'nowhere', tool: 'x', safe: true }];
  const { body } = await execute({ variables: { name: 'x' }, draft: { ...draft, tools } });
  assert.match(body.message, /^Field "draft.tools.0.server": there is no tool server/);
  const deployed = await addAgent(service);
  const restricted = await service.key({
    permissions: ['execute', 'manage'],
    agentIds: [deployed.agentId],
  });
  const call = { variables: { name: 'x' }, playground: true, draft: { ...draft, tools } };
  const denied = await service.call('POST', `${deployed.path}/execute`, {
    ...{ key: restricted.key, body: call },
  });
  assert.deepEqual([denied.status, denied.body.code], [403, 'PERMISSION_DENIED']);
});

test('a long draft is executed, and one that is too long is refused', async () => {
  const long = 'x'.repeat(90_000);
  const record = await run({ variables: {}, draft: { ...draft, user: `${long}{{place}}` } });
  assert.equal(record.output, long);
  const { status, body } = await execute({ draft: { user: 'x'.repeat(1_048_577) }, variables: {} });
  assert.equal(status, 400);
  assert.match(body.message, /"draft" must have at most 1048576 characters/);
});

test('the draft is part of what an idempotency key was used with', async () => {
  const headers = { 'idempotency-key': 'one' };
  const call = (sent: object) =>
    execute({ variables: { name: 'x' }, draft: sent }, service.ownerId, headers);
  const first = await call(draft);
  const again = await call({ ...draft });
  assert.equal(again.body.executionId, first.body.executionId);
  assert.equal((await call({ ...draft, user: 'Other' })).status, 422);
});
