import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { greeting, makeWorkflow } from '../../../../harness/created-workflows.ts';
import { untilBlocked } from '../../../../harness/locks.ts';
import { makeAgent, makePrompt, move } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { db, workspaceId } = service;
const { key } = await service.key();
const prompt = await makePrompt(service, { user: 'Hi' }, { user: 'Hello' });

const patch = (path: string, body: object) => service.call('PATCH', path, { key, body });
const create = (body: object) => {
  const { promptId, versionIds } = prompt;
  const input = { agentName: 'New', promptId, promptVersionId: versionIds[0], ...body };
  return service.call('POST', '/api/v1/agents', { key, body: input });
};
const read = async (path: string) => (await service.call('GET', path, { key })).body;

test('aliases are set at creation and replaced by a change, in the order given', async () => {
  const aliases = ['pmpt_68a1', 'B', 'b', 'old.name:v2'];
  const created = await create({ slug: 'ordered', aliases });
  assert.deepEqual([created.status, created.body.aliases], [201, aliases]);
  const path = `/api/v1/agents/${created.body.agentId}`;
  assert.deepEqual((await read(path)).aliases, aliases);
  assert.deepEqual((await read('/api/v1/agents?q=New')).agents[0].aliases, aliases);

  const changed = await patch(path, { aliases: ['b', 'C'] });
  assert.deepEqual(changed.body.aliases, ['b', 'C']);
  const etag = changed.headers.get('etag');
  assert.equal((await patch(path, { aliases: ['b', 'C'] })).headers.get('etag'), etag);
  assert.notEqual((await patch(path, { aliases: ['C', 'b'] })).headers.get('etag'), etag);
  assert.deepEqual((await patch(path, { description: 'Other' })).body.aliases, ['C', 'b']);
  assert.deepEqual((await patch(path, { aliases: [] })).body.aliases, []);
});

test('the slug and an alias change places, and a former slug stays as an alias', async () => {
  const { path } = await makeAgent(service, prompt, { slug: 'first', aliases: ['second'] });
  const swapped = await patch(path, { slug: 'second', aliases: ['first'] });
  assert.deepEqual([swapped.body.slug, swapped.body.aliases], ['second', ['first']]);
  const renamed = await patch(path, { slug: 'third', aliases: ['first', 'second'] });
  assert.deepEqual([renamed.body.slug, renamed.body.aliases], ['third', ['first', 'second']]);
});

test('slugs and aliases are unique together, also those of workflows: 409', async () => {
  const agent = await makeAgent(service, prompt, { slug: 'holder', aliases: ['held', 'Case'] });
  await move(service, agent, 'enable-api', 'deploy');
  const workflow = await makeWorkflow(service, greeting(agent.agentId), { slug: 'a-flow' });
  const { path } = await makeAgent(service, prompt, { slug: 'free' });
  for (const body of [{ slug: 'held' }, ...['holder', 'held', 'a-flow'].map(aliased)]) {
    for (const answer of [await create(body), await patch(path, body)]) {
      assert.deepEqual([answer.status, answer.body.code], [409, 'CONFLICT'], JSON.stringify(body));
      assert.match(answer.body.message, /^The (slug|alias) "[a-z-]+" is taken by another agent/);
    }
  }
  const taken = await patch(workflow.path, { slug: 'held' });
  assert.equal(taken.status, 409);
  const own = await patch(path, { aliases: ['free'] });
  assert.deepEqual(
    [own.status, own.body.message],
    [409, 'The alias "free" is the slug of the agent itself.'],
  );
  assert.equal((await create({ slug: 'same', aliases: ['same'] })).status, 409);
  // The case counts, and a derived slug evades aliases.
  assert.deepEqual((await patch(path, { aliases: ['case'] })).body.aliases, ['case']);
  const derived = await create({ agentName: 'Held', aliases: ['held-2'] });
  assert.equal(derived.body.slug, 'held-3');

  const { workspaceId: other, ownerId: userId } = await service.workspace();
  const there = await service.key({ workspaceId: other, userId });
  const elsewhere = { ...service, key: async () => there };
  await makeAgent(elsewhere, await makePrompt(elsewhere, { user: 'x' }), { aliases: ['held'] });
});

const aliased = (alias: string) => ({ aliases: [alias] });

test('of two agents that take a name at the same time, one gets it', async () => {
  const agents = await Promise.all(
    [1, 2, 3, 4].map((n) => makeAgent(service, prompt, { slug: `racer-${n}` })),
  );
  const statuses = await Promise.all(
    agents.map(async ({ path }, at) => {
      const body = at % 2 === 0 ? { aliases: ['raced'] } : { slug: 'raced' };
      return (await patch(path, body)).status;
    }),
  );
  assert.deepEqual(statuses.toSorted(), [200, 409, 409, 409]);
});

test('deleting frees the aliases, archiving does not', async () => {
  const agent = await makeAgent(service, prompt, { slug: 'going', aliases: ['kept'] });
  await move(service, agent, 'enable-api', 'archive');
  assert.equal((await create({ aliases: ['kept'] })).status, 409);
  assert.equal((await service.call('DELETE', agent.path, { key })).status, 204);
  assert.equal((await create({ slug: 'going', aliases: ['kept'] })).status, 201);
});

test('400 for a text that is no alias, for a repetition and for more than 20', async () => {
  const { path, agentId } = await makeAgent(service, prompt);
  const texts = ['', '.', '..', 'a/b', 'a b', 'é', '%41', 'x'.repeat(129)];
  const identifiers = [agentId, prompt.promptId, agentId.replace('agt', 'xyz')];
  for (const alias of [...texts, ...identifiers, null, 1]) {
    const { status, body } = await patch(path, { aliases: [alias] });
    assert.equal(status, 400, String(alias));
    assert.match(body.message, /"aliases/);
  }
  assert.equal((await patch(path, { aliases: ['a', 'a'] })).status, 400);
  const many = Array.from({ length: 21 }, (_, n) => `many-${n}`);
  assert.equal((await patch(path, { aliases: many })).status, 400);
  assert.equal((await patch(path, { aliases: null })).status, 400);
  const allowed = ['...', '.a', ':', '-', '_', 'x'.repeat(128), 'agt_1', 'AGT_x', 'pmpt_0'];
  assert.deepEqual((await patch(path, { aliases: allowed })).body.aliases, allowed);
  assert.equal((await patch(path, { aliases: many.slice(1) })).body.aliases.length, 20);
});

test('versionAliases name labels of versions of the prompt by numbers', async () => {
  const { path } = await makeAgent(service, prompt, { versionAliases: { 10: 'v1', 2: 'v2' } });
  assert.deepEqual((await read(path)).versionAliases, { 2: 'v2', 10: 'v1' });
  const changed = await patch(path, { versionAliases: { 7: 'v2' } });
  assert.deepEqual(changed.body.versionAliases, { 7: 'v2' });
  const etag = changed.headers.get('etag');
  const same = await patch(path, { versionAliases: { 7: 'v2' } });
  assert.equal(same.headers.get('etag'), etag);
  for (const versionAliases of [
    ...[{ 0: 'v1' }, { '01': 'v1' }, { '-1': 'v1' }, { v1: 'v1' }, { '1.0': 'v1' }],
    ...[{ 1: '' }, { 1: 1 }, { 1: null }, [], null, { 1: 'v9' }],
    Object.fromEntries(Array.from({ length: 101 }, (_, n) => [n + 1, 'v1'])),
  ]) {
    const { status, body } = await patch(path, { versionAliases });
    assert.equal(status, 400, JSON.stringify(versionAliases));
    assert.match(body.message, /versionAliases/);
  }
  const unknown = await create({ versionAliases: { 1: 'v9' } });
  assert.deepEqual(
    [unknown.status, unknown.body.message],
    [
      400,
      'Field "versionAliases.1" must be the label of a version of the prompt; there is none with the label "v9".',
    ],
  );
});

/** What a process of the version before aliases does. */
test('beside an older process, names stay unique, and its deletion frees the aliases', async () => {
  const agent = await makeAgent(service, prompt, { slug: 'old-1', aliases: ['aliased', 'Other'] });
  const other = await makeAgent(service, prompt, { slug: 'old-2' });
  const taken = { message: /duplicate key value/ };
  await assert.rejects(
    sql`update slugs set slug = 'aliased' where slug = 'old-2'`.execute(db),
    taken,
  );
  const insert = sql`
    insert into slugs (workspace_id, slug, subject)
    select ${workspaceId}, 'aliased', gen_random_uuid()`;
  await assert.rejects(insert.execute(db), taken);
  const { rows } = await sql<{ slug: string }>`
    select s.slug from agents a join slugs s on s.subject = a.id
    where a.workspace_id = ${workspaceId} and s.slug like 'old-%' order by 1`.execute(db);
  assert.deepEqual(rows, [{ slug: 'old-1' }, { slug: 'old-2' }]);

  // It locks the same agent, and writes all settings that it knows.
  await sql`update slugs set slug = 'old-3' where slug = 'old-1'`.execute(db);
  assert.deepEqual((await read(agent.path)).aliases, ['aliased', 'Other']);
  await sql`delete from slugs where slug = 'old-3'`.execute(db);
  assert.deepEqual((await patch(other.path, { aliases: ['Other'] })).body.aliases, ['Other']);
});

test('an alias is not taken while another transaction takes it as a slug', async () => {
  const { path } = await makeAgent(service, prompt, { slug: 'waiting' });
  let changed: ReturnType<typeof patch> | undefined;
  await db.transaction(async (trx) => {
    await sql`
      select pg_advisory_xact_lock(hashtextextended(${`slugs ${workspaceId}`}, 0))`.execute(trx);
    changed = patch(path, { aliases: ['contested'] });
    await untilBlocked(db);
    await sql`
      insert into slugs (workspace_id, slug, subject)
      values (${workspaceId}, 'contested', gen_random_uuid())`.execute(trx);
  });
  assert.equal((await changed)?.status, 409);
});
