import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { budgetSettings, createBudget } from '../../../../harness/created-budgets.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const path = '/api/v1/budgets';

/** Another workspace with an owner's key, because each has few budgets. */
async function workspace() {
  const { workspaceId, ownerId } = await service.workspace();
  const owner = await service.key({ workspaceId, userId: ownerId });
  return { ...service, workspaceId, ownerId, owner: owner.key };
}

async function refused(settings: object, owner = key) {
  const body = { ...budgetSettings, ...settings };
  const { status, body: problem } = await service.call('POST', path, { key: owner, body });
  return [status, problem.message];
}

test('an amount has at most ten decimal places', async () => {
  const message = 'Field "limitUSD" must have at most ten decimal places.';
  for (const limitUSD of [0.00000000001, 1.00000000001, 1e-11]) {
    assert.deepEqual(await refused({ limitUSD }), [400, message]);
  }
  for (const limitUSD of [1e-10, 0.1, 1_000_000_000]) {
    const { body } = await service.call('POST', path, {
      ...{ key, body: { ...budgetSettings, name: `${limitUSD}`, enabled: false, limitUSD } },
    });
    assert.equal(body.limitUSD, limitUSD);
  }
});

test('unknown agents and keys, and those of other workspaces, are not found', async () => {
  const other = await workspace();
  const { agentId } = await addAgent(other);
  const { apiKeyId } = await service.key({ ...other, userId: other.ownerId });
  for (const unknown of ['agt_unknown', agentId]) {
    const scope = { agentIds: [unknown] };
    assert.deepEqual(await refused({ scope }), [404, 'There is no such agent.']);
  }
  for (const unknown of ['key_unknown', apiKeyId]) {
    const scope = { apiKeyIds: [unknown] };
    assert.deepEqual(await refused({ scope }), [404, 'There is no such API key.']);
  }
});

test('the name is unique', async () => {
  await createBudget(service, key, { name: 'Once' });
  const message = 'There already is a budget "Once".';
  assert.deepEqual(await refused({ name: 'Once' }), [409, message]);
});

test('a workspace has at most a hundred budgets', async () => {
  const { owner, workspaceId } = await workspace();
  await sql`
    insert into budgets (id, workspace_id, name, per, period, limit_usd, enabled)
    select gen_random_uuid(), ${workspaceId}, 'Budget ' || n, 'none', 'day', 1, false
    from generate_series(1, 98) n`.execute(service.db);
  const create = (_: unknown, n: number) => refused({ name: `${n}`, enabled: false }, owner);
  const all = await Promise.all(Array.from({ length: 5 }, create));
  const tooMany = [409, 'A workspace has at most 100 budgets.'];
  assert.deepEqual(
    all.filter(([status]) => status !== 201),
    [tooMany, tooMany, tooMany],
  );
});

test('one call matches at most five enabled budgets', async () => {
  const at = await workspace();
  const agents = await Promise.all([addAgent(at), addAgent(at)]);
  const [one = '', other = ''] = agents.map(({ agentId }) => agentId);
  let created = 0;
  const create = (settings: object) => refused({ name: `${++created}`, ...settings }, at.owner);
  const status = async (settings: object) => (await create(settings))[0];
  assert.equal(await status({}), 201);
  // A call has one agent, so budgets of others do not add up.
  for (const agentId of [one, one, other, other]) {
    assert.equal(await status({ scope: { agentIds: [agentId] } }), 201);
  }
  // A call may have all of these tags.
  for (const tag of ['a', 'b']) assert.equal(await status({ scope: { tags: [tag] } }), 201);
  const [conflict, message] = await create({ scope: { tags: ['c'] } });
  assert.equal(conflict, 409);
  assert.match(message, /One call could match 6 enabled budgets, and 5 are allowed/);
  assert.equal(await status({ enabled: false }), 201);
  const { budgets } = (await service.call('GET', path, { key: at.owner })).body;
  assert.equal(budgets.length, 8);
  // Enabling is as creating; what is enabled anyway may change.
  const change = async (budgetId: string, body: object) => {
    const changed = await service.call('PATCH', `${path}/${budgetId}`, { key: at.owner, body });
    return changed.status;
  };
  const disabled = budgets.at(-1).budgetId;
  assert.equal(await change(disabled, { enabled: true }), 409);
  assert.equal(await change(disabled, { limitUSD: 3 }), 200);
  assert.equal(await change(budgets[0].budgetId, { enabled: false }), 200);
  assert.equal(await change(disabled, { enabled: true }), 200);
});

test('only an owner has budgets', async () => {
  const editor = await service.key({ userId: await service.member('editor') });
  assert.equal((await refused({}, editor.key))[0], 403);
  const manager = await service.key({ permissions: ['manage', 'read', 'execute'] });
  assert.equal((await refused({}, manager.key))[0], 403);
});

test('no budget is created while workers run that keep none', async () => {
  const at = await workspace();
  // Its trigger would refuse it, because there are budgets of other tests.
  await sql`
    with worker as (insert into workers (id, lease_until, opens_urls, keeps_budgets)
      values (gen_random_uuid(), clock_timestamp() + interval '1 hour', true, true) returning id)
    select id from worker`.execute(service.db);
  await sql`update workers set keeps_budgets = false where lease_until > clock_timestamp() + interval '30 minutes'`.execute(
    service.db,
  );
  const [status, message] = await refused({}, at.owner);
  await sql`delete from workers where not keeps_budgets`.execute(service.db);
  assert.equal(status, 503);
  service.faults.length = 0;
  assert.match(message, /Workers of an earlier version/);
  assert.equal((await refused({}, at.owner))[0], 201);
});

test('agents whose calls have no bound are not among those that a budget counts', async () => {
  const at = await workspace();
  const options = { providerOptions: { openai: { max_completion_tokens: 9 } } };
  const wrong = await addAgent(at, { config: options });
  const right = await addAgent(at, { config: { providerOptions: { openai: { store: false } } } });
  const message =
    'A budget counts calls of the agent "Agent". With the option "providerOptions.openai.max_completion_tokens", no limit of cost can hold: it has an output limit of its own, answers more than once, or adds to the prompt. Remove it, or the limit of cost.';
  assert.deepEqual(await refused({}, at.owner), [409, message]);
  const [status] = await refused({ scope: { agentIds: [right.agentId] } }, at.owner);
  assert.equal(status, 201);
  const scope = { agentIds: [wrong.agentId] };
  assert.equal((await refused({ name: 'Off', scope, enabled: false }, at.owner))[0], 201);
  const { budgets } = (await service.call('GET', path, { key: at.owner })).body;
  const one = `${path}/${budgets[1].budgetId}`;
  const enable = { key: at.owner, body: { enabled: true } };
  assert.equal((await service.call('PATCH', one, enable)).status, 409);
  await service.call('PUT', '/api/v1/providers/mine', {
    ...{ key: at.owner, body: { kind: 'openai', apiKey: 'sk-x', bodyExtra: { n: 2 } } },
  });
  const config = { models: ['cueline/echo', 'mine/gpt-x'] };
  const { agentId } = await addAgent(at, { config });
  const [conflict, named] = await refused({ name: 'B', scope: { agentIds: [agentId] } }, at.owner);
  assert.equal(conflict, 409);
  assert.match(named, /"bodyExtra.n"/);
});
