import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { addBudget } from '../../../../harness/budgets.ts';
import { createBudget } from '../../../../harness/created-budgets.ts';
import { startService } from '../../../../harness/service.ts';
import { toId } from '../../../../src/core/id.ts';

const service = await startService();
after(service.close);
const { key, apiKeyId } = await service.key();
const path = '/api/v1/declaration';

const prompts = [{ name: 'P', versions: [{ label: 'v1', user: 'Hello', model: 'cueline/echo' }] }];
const agents = [{ name: 'Explainer', prompt: 'P', version: 'v1' }];
const budget = {
  ...{ name: 'Users of Explainer', scope: { agents: ['Explainer'], tags: ['beta'] } },
  ...{ per: 'user', period: 'month', limitUSD: 20, thresholds: [80] },
};

function apply(declaration: object, options: object = { key }, dryRun = false) {
  return service.call('POST', path, { ...options, body: { declaration, dryRun } });
}

test('budgets are created, changed, exported and then left alone', async () => {
  const declaration = { prompts, agents, budgets: [budget] };
  const dry = await apply(declaration, { key }, true);
  const create = { kind: 'budget', name: budget.name, action: 'create' };
  assert.deepEqual(dry.body.changes.at(-1), create);
  assert.deepEqual((await service.call('GET', '/api/v1/budgets', { key })).body.budgets, []);
  assert.deepEqual((await apply(declaration)).body.changes.at(-1), create);
  const [created] = (await service.call('GET', '/api/v1/budgets', { key })).body.budgets;
  const { agents: all } = (await service.call('GET', '/api/v1/agents', { key })).body;
  assert.deepEqual(created.scope, { agentIds: [all[0].agentId], tags: ['beta'] });
  assert.deepEqual((await apply(declaration)).body.changes, []);
  const { body: read } = await service.call('GET', path, { key });
  assert.deepEqual(read.declaration.budgets, [budget]);
  assert.deepEqual((await apply(read.declaration)).body.changes, []);

  const { scope: _, thresholds: __, ...bare } = { ...budget, limitUSD: 5.25, enabled: false };
  const change = { kind: 'budget', name: budget.name, action: 'change' };
  assert.deepEqual((await apply({ budgets: [bare] })).body.changes, [
    // An agent that the declaration does not name is not looked up.
    { ...change, field: 'scope', from: { agents: [all[0].agentId], tags: ['beta'] }, to: {} },
    { ...change, field: 'limitUSD', from: 20, to: 5.25 },
    { ...change, field: 'thresholds', from: [80], to: [50, 80, 100] },
    { ...change, field: 'enabled', from: true, to: false },
  ]);
  const { body: after } = await service.call('GET', path, { key });
  assert.deepEqual(after.declaration.budgets, [bare]);
});

test('a plan refuses an agent with an option with which the limit of a budget cannot hold', async () => {
  const own = await service.workspace();
  const by = { user: own.ownerId };
  const agentConfig = { providerOptions: { openai: { maxTokens: 9 } } };
  const wrong = { prompts, agents: [{ ...agents[0], agentConfig }] };
  assert.equal((await apply({ prompts, agents }, by)).status, 200);
  await addBudget({ ...service, ...own }, { limitUSD: 1 });
  for (const dryRun of [true, false]) {
    const { status, body } = await apply(wrong, by, dryRun);
    assert.deepEqual([status, body.code], [409, 'CONFLICT'], JSON.stringify(body));
    assert.match(body.message, /agent "Explainer".*"providerOptions\.openai\.maxTokens"/);
  }
  assert.deepEqual((await apply({ prompts, agents }, by, true)).body.changes, []);
});

const optioned = { agentConfig: { providerOptions: { openai: { maxTokens: 9 } } } };
const noBound = /"Explainer".*"providerOptions\.openai\.maxTokens"/;
const everything = { name: 'Everything', per: 'none', period: 'day', limitUSD: 1 };
const withOption = { prompts, agents: [{ ...agents[0], ...optioned }] };

/** Applies it as another workspace's owner, after a dry run that must say the same. */
async function workspace() {
  const own = await service.workspace();
  const by = { user: own.ownerId };
  return async (declaration: object) => {
    const dry = await apply(declaration, by, true);
    const { status, body } = await apply(declaration, by);
    assert.deepEqual([dry.status, dry.body.message], [status, body.message]);
    return { status, message: body.message ?? '' };
  };
}

test('a budget is refused for what it would count, wherever that is declared', async () => {
  const at = await workspace();
  assert.equal((await at(withOption)).status, 200);
  const scoped = { ...everything, scope: { agents: ['Explainer'] } };
  for (const declaration of [
    { budgets: [everything] },
    { budgets: [scoped] },
    { ...withOption, budgets: [scoped] },
  ]) {
    const { status, message } = await at(declaration);
    assert.deepEqual([status, noBound.test(message)], [409, true], message);
  }
  const both = { ...withOption.agents[0], name: 'New' };
  const { status, message } = await at({ agents: [both], budgets: [everything] });
  assert.deepEqual([status, /"New"/.test(message)], [409, true], message);
  assert.equal((await at({ budgets: [{ ...everything, enabled: false }] })).status, 200);
  const enabled = await at({ budgets: [everything] });
  assert.deepEqual([enabled.status, noBound.test(enabled.message)], [409, true]);
});

test('an option and a budget take turns in one declaration', async () => {
  const at = await workspace();
  const [off, on] = [{ ...everything, enabled: false }, everything];
  const without = { prompts, agents: [{ ...agents[0], agentConfig: { providerOptions: {} } }] };
  assert.equal((await at({ ...withOption, budgets: [off] })).status, 200);
  for (let round = 1; round <= 2; round++) {
    // Either order of the sections.
    for (const [first, second] of [
      [{ ...without }, { budgets: [on] }],
      [{ budgets: [off] }, { ...withOption }],
    ]) {
      const declaration = round === 1 ? { ...first, ...second } : { ...second, ...first };
      const { status, message } = await at(declaration);
      assert.equal(status, 200, message);
    }
  }
  // Its scope moves from the agent that gets the option to the one that loses it.
  const other = { ...agents[0], name: 'Other' };
  const scoped = (name: string) => ({ budgets: [{ ...everything, scope: { agents: [name] } }] });
  const start = { agents: [without.agents[0], { ...other, ...optioned }], ...scoped('Explainer') };
  const moved = { agents: [{ ...agents[0], ...optioned }, other], ...scoped('Other') };
  for (const declaration of [start, moved]) {
    const { status, message } = await at(declaration);
    assert.equal(status, 200, message);
  }
});

test('the number of budgets that match one call is that of the result', async () => {
  const at = await workspace();
  const budgets = (from: number, to: number, enabled = true) =>
    Array.from({ length: to - from }, (_, n) => ({
      ...{ ...everything, name: `Budget ${from + n}`, enabled },
    }));
  const { status, message } = await at({ budgets: budgets(0, 6) });
  assert.deepEqual([status, /could match 6 enabled/.test(message)], [409, true], message);
  assert.equal((await at({ budgets: budgets(0, 5) })).status, 200);
  const replaced = await at({ budgets: [...budgets(5, 10), ...budgets(0, 5, false)] });
  assert.equal(replaced.status, 200, replaced.message);
  assert.equal((await at({ budgets: budgets(10, 100, false) })).status, 200);
  const tooMany = await at({ budgets: budgets(100, 101, false) });
  assert.deepEqual(
    [tooMany.status, tooMany.message],
    [409, 'The budget "Budget 100": A workspace has at most 100 budgets.'],
  );
});

test('where too many budgets match already, a change that widens none is applied', async () => {
  const own = await service.workspace();
  const by = { user: own.ownerId };
  assert.equal((await apply({ budgets: [everything] }, by)).status, 200);
  for (let n = 0; n < 5; n++) await addBudget({ ...service, ...own }, { limitUSD: 1 });
  for (const dryRun of [true, false]) {
    const { status, body } = await apply({ budgets: [{ ...everything, limitUSD: 2 }] }, by, dryRun);
    assert.equal(status, 200, body.message);
  }
});

test('a wrong budget is refused by name, and nothing is applied', async () => {
  const total = { name: 'Total', per: 'none', period: 'total', limitUSD: 1 };
  await apply({ budgets: [total] });
  for (const [wrong, status, message] of [
    [{ ...total, period: 'day' }, 409, /budget "Total".*"period" cannot be changed/],
    [{ ...total, scope: { agents: ['Nobody'] } }, 400, /budget "Total".*no agent "Nobody"/],
    [{ ...total, limitUSD: 1e-11 }, 400, /budget "Total".*"limitUSD"/],
    [{ ...total, scope: { apiKeyIds: [apiKeyId] } }, 400, /apiKeyIds/],
    [{ ...total, limitUSD: 0 }, 400, /limitUSD/],
  ] as const) {
    const first = { name: 'First', per: 'none', period: 'day', limitUSD: 1 };
    const { status: answered, body } = await apply({ budgets: [first, wrong] });
    assert.deepEqual([answered, message.test(body.message)], [status, true], body.message);
  }
  const { budgets } = (await service.call('GET', '/api/v1/budgets', { key })).body;
  assert.ok(!budgets.some(({ name }: { name: string }) => name === 'First'));
  const twice = await apply({ budgets: [total, total] });
  assert.match(twice.body.message, /The budget "Total" is declared twice/);
});

test('only owners declare budgets and see them', async () => {
  const user = await service.member('editor');
  const declared = { budgets: [{ ...budget, scope: {} }] };
  const manager = await service.key({ permissions: ['manage', 'read'] });
  for (const options of [{ user }, { key: manager.key }]) {
    const read = await service.call('GET', path, options);
    assert.equal(read.status, 200);
    assert.equal('budgets' in read.body.declaration, false);
    for (const dryRun of [true, false]) {
      assert.equal((await apply(declared, options, dryRun)).status, 403);
    }
  }
});

test('budgets for keys, and for agents that are omitted, are omitted', async () => {
  const { id } = await addAgent(service, { stage: 'Paused', archived: true });
  const disabled = { enabled: false };
  const scope = { apiKeyIds: [apiKeyId] };
  await createBudget(service, key, { ...disabled, name: 'Of a key', scope });
  const agentIds = [toId('agent', id)];
  await createBudget(service, key, { ...disabled, name: 'Of a past agent', scope: { agentIds } });
  const { body } = await service.call('GET', path, { key });
  assert.deepEqual(
    body.omitted.filter(({ kind }: { kind: string }) => kind === 'budget'),
    [
      {
        ...{ kind: 'budget', name: 'Of a key' },
        reason: 'It counts only some API keys, which a declaration does not contain.',
      },
      {
        ...{ kind: 'budget', name: 'Of a past agent' },
        reason: 'Its agent "Agent" is archived.',
      },
    ],
  );
});
