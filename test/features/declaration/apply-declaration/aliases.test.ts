import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const path = '/api/v1/declaration';

const versions = ['v1', 'v2', 'v3'].map((label) => ({
  ...{ label, user: `Hi from ${label}`, model: 'cueline/echo' },
}));
const base = { prompt: 'P', version: 'v2', stage: 'Deployed' };

function declared(...agents: object[]) {
  return {
    prompts: [{ name: 'P', versions }],
    agents: agents.map((one, at) => ({ name: `Agent ${at + 1}`, ...base, ...one })),
  };
}

const apply = (declaration: object, dryRun = false, asKey = key) =>
  service.call('POST', path, { key: asKey, body: { declaration, dryRun } });
const pull = async (asKey = key) =>
  (await service.call('GET', path, { key: asKey })).body.declaration;

const aliases = ['pmpt_B', 'pmpt_a', 'old:name'];
const versionAliases = { 1: 'v1', 12: 'v2' };

test('what is declared is applied, pulled again, and then no change', async () => {
  const declaration = declared({ aliases, versionAliases }, {});
  const dry = await apply(declaration, true);
  assert.equal(dry.status, 200, dry.body.message);
  assert.deepEqual((await apply(declaration)).body.changes, dry.body.changes);
  assert.deepEqual((await apply(declaration)).body.changes, []);
  const { agents } = await pull();
  assert.deepEqual([agents[0].aliases, agents[0].versionAliases], [aliases, versionAliases]);
  assert.ok(!('aliases' in agents[1]) && !('versionAliases' in agents[1]));
});

test('an empty workspace takes what another one gives, with the versions that have aliases', async () => {
  const { workspaceId, ownerId: userId } = await service.workspace();
  const there = await service.key({ workspaceId, userId });
  const pulled = await pull();
  const labels = pulled.prompts[0].versions.map((one: { label: string }) => one.label);
  assert.deepEqual(labels, ['v1', 'v2', 'v3']);
  const applied = await apply(pulled, false, there.key);
  assert.equal(applied.status, 200, applied.body.message);
  assert.deepEqual(await pull(there.key), pulled);
});

test('changes are listed by field; what is left out is removed', async () => {
  const changed = await apply(declared({ aliases: ['pmpt_a'], versionAliases: { 1: 'v3' } }));
  const changes = changed.body.changes.map((one: Record<string, unknown>) => [
    ...[one.name, one.field, one.from, one.to],
  ]);
  assert.deepEqual(changes, [
    ['Agent 1', 'aliases', aliases, ['pmpt_a']],
    ['Agent 1', 'versionAliases', versionAliases, { 1: 'v3' }],
  ]);
  const bare = await apply(declared({}));
  assert.deepEqual(
    bare.body.changes.map((one: { field: string }) => one.field),
    ['aliases', 'versionAliases'],
  );
  assert.ok(!('aliases' in (await pull()).agents[0]));
});

test('refusals are the same in a dry run', async () => {
  assert.equal((await apply(declared({ slug: 'first' }, { aliases: ['held'] }))).status, 200);
  for (const [agents, status, message] of [
    [[{ aliases: ['held'] }], 409, /^The agent "Agent 1": The alias "held" is taken/],
    [[{ slug: 'held' }], 409, /^The agent "Agent 1": The slug "held" is taken/],
    [[{ aliases: ['first'] }], 409, /The alias "first" is the slug of the agent itself/],
    [[{ aliases: ['twice'] }, { aliases: ['twice'] }], 400, /^The alias "twice" is declared twice/],
    [[{ slug: 'twice' }, { aliases: ['twice'] }], 400, /^The alias "twice" is declared twice/],
    [[{ versionAliases: { 3: 'v9' } }], 400, /"versionAliases.3".*none with the label "v9"/],
  ] as const) {
    for (const dryRun of [true, false]) {
      const { status: actual, body } = await apply(declared(...agents), dryRun);
      assert.deepEqual([actual, message.test(body.message)], [status, true], body.message);
    }
  }
  // A version that the same declaration adds counts.
  const { prompts, agents } = declared({ versionAliases: { 4: 'v4' } }, { aliases: ['held'] });
  const added = [{ ...prompts[0], versions: [...versions, { ...versions[0], label: 'v4' }] }];
  for (const dryRun of [true, false]) {
    assert.equal((await apply({ prompts: added, agents }, dryRun)).status, 200);
  }
});

test('an apply and a change at the same time do not take one name for two agents', async () => {
  const { body } = await service.call('GET', '/api/v1/agents?q=Agent 2', { key });
  const { agentId } = body.agents[0];
  const [applied, changed] = await Promise.all([
    apply(declared({ aliases: ['raced'] })),
    service.call('PATCH', `/api/v1/agents/${agentId}`, { key, body: { aliases: ['raced'] } }),
  ]);
  assert.deepEqual([applied.status, changed.status].toSorted(), [200, 409]);
});
