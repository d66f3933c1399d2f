import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const path = '/api/v1/declaration';

function declared(agent: object = {}, workflow: object = {}) {
  return {
    prompts: [{ name: 'P', versions: [{ label: 'v1', user: 'Hi', model: 'cueline/echo' }] }],
    agents: [{ name: 'Greeter', prompt: 'P', version: 'v1', stage: 'Deployed', ...agent }],
    workflows: [{ name: 'Greet all', steps: [{ name: 'one', agent: 'Greeter' }], ...workflow }],
  };
}

function apply(declaration: object, dryRun = false) {
  return service.call('POST', path, { key, body: { declaration, dryRun } });
}

async function exported() {
  const { agents, workflows } = (await service.call('GET', path, { key })).body.declaration;
  const { slug, allowInstructions, allowTools } = agents[0];
  return { agent: slug, workflow: workflows[0].slug, allowInstructions, allowTools };
}

test('a slug that follows from the name is left out; another one is exported and kept', async () => {
  assert.equal((await apply(declared())).status, 200);
  const none = { allowInstructions: undefined, allowTools: undefined };
  assert.deepEqual(await exported(), { agent: undefined, workflow: undefined, ...none });
  const other = declared({ slug: 'hello', allowTools: true }, { slug: 'hello-all' });
  const { body } = await apply(other);
  const changes = body.changes.map((one: Record<string, unknown>) => [one.kind, one.field, one.to]);
  assert.deepEqual(changes, [
    ['agent', 'slug', 'hello'],
    ['agent', 'allowTools', true],
    ['workflow', 'slug', 'hello-all'],
  ]);
  assert.deepEqual(await exported(), {
    ...{ agent: 'hello', workflow: 'hello-all', allowInstructions: undefined, allowTools: true },
  });
  assert.deepEqual((await apply(other)).body.changes, []);
  assert.equal((await apply(declared())).body.changes.length, 1);
  assert.deepEqual(await exported(), { agent: 'hello', workflow: 'hello-all', ...none });
});

test('a new agent gets the declared slug', async () => {
  const { agents, ...others } = declared();
  const second = { ...agents[0], name: 'Second', slug: 'number-two' };
  await apply({ ...others, agents: [...agents, second] });
  const { body } = await service.call('GET', '/api/v1/agents?q=Second', { key });
  assert.equal(body.agents[0].slug, 'number-two');
});

test('409 for a taken slug and 400 for one declared twice, also in a dry run', async () => {
  for (const dryRun of [false, true]) {
    const taken = await apply(declared({ slug: 'number-two' }), dryRun);
    assert.deepEqual([taken.status, taken.body.code], [409, 'CONFLICT']);
    assert.match(taken.body.message, /^The agent "Greeter": The slug "number-two" is taken/);
    const taker = await apply(declared({}, { slug: 'number-two' }), dryRun);
    assert.equal(taker.status, 409);
    const twice = await apply(declared({ slug: 'x' }, { slug: 'x' }), dryRun);
    assert.deepEqual([twice.status, twice.body.message], [400, 'The slug "x" is declared twice.']);
  }
});
