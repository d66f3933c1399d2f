import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makePrompt } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';

/** `variableSchemas` of a version: from its creation to the refusal of a call. */

const service = await startService();
after(service.close);
const { key } = await service.key();

const variableSchemas = {
  amount: { type: 'number', minimum: 0 },
  order: {
    type: 'object',
    properties: { items: { type: 'array', items: { type: 'object', required: ['sku'] } } },
  },
};
const user = '{{amount}} {{order}} {{note}}';

async function agentWith(schemas: object) {
  const prompt = await makePrompt(service);
  const body = { user, variableSchemas: schemas, model: 'cueline/echo' };
  const version = await service.call('POST', `${prompt.path}/versions`, { key, body });
  assert.equal(version.status, 201);
  const agent = await service.call('POST', '/api/v1/agents', {
    key,
    body: {
      ...{ agentName: 'A', promptId: prompt.promptId, optionalVariables: ['order', 'note'] },
      promptVersionId: version.body.promptVersionId,
    },
  });
  const path = `/api/v1/agents/${agent.body.agentId}`;
  await service.call('POST', `${path}/lifecycle`, { key, body: { action: 'enable-api' } });
  const execute = (variables: object) =>
    service.call('POST', `${path}/execute`, { key, body: { variables } });
  return { version, prompt, path, execute };
}

test('the version shows its schemas, in the order of their names', async () => {
  const { version, prompt } = await agentWith(variableSchemas);
  assert.equal(JSON.stringify(version.body.variableSchemas), JSON.stringify(variableSchemas));
  const path = `${prompt.path}/versions/${version.body.promptVersionId}`;
  assert.deepEqual((await service.call('GET', path, { key })).body, version.body);
});

test('400 for a value that does not match, with the variable and the path', async () => {
  const { execute } = await agentWith(variableSchemas);
  const wrong = await execute({ amount: '5' });
  const { code, variable, path, message } = wrong.body;
  assert.deepEqual([wrong.status, code, variable, path], [400, 'INVALID_VARIABLES', 'amount', '']);
  assert.equal(message, 'Variable "amount" does not match its schema: must be number.');
  const nested = await execute({ amount: 5, order: { items: [{ sku: 1 }, {}] } });
  assert.deepEqual([nested.body.variable, nested.body.path], ['order', '/items/1']);
});

test('a missing required variable comes first; an optional one needs no value', async () => {
  const { execute } = await agentWith(variableSchemas);
  assert.equal((await execute({ order: 5 })).body.code, 'MISSING_VARIABLES');
  assert.equal((await execute({ amount: 5 })).status, 202);
  assert.equal((await execute({ amount: 5, order: null, note: {} })).status, 202);
  assert.equal((await execute({ amount: 0.5, order: { items: [] }, other: 1 })).status, 202);
});

test('a refused value uses no AI Action and leaves no record', async () => {
  const { execute, path } = await agentWith(variableSchemas);
  const used = async () => (await service.call('GET', '/api/v1/usage', { key })).body.actionsUsed;
  const before = await used();
  await execute({ amount: -1 });
  assert.equal(await used(), before);
  const list = await service.call('GET', `${path}/executions?include=processing`, { key });
  assert.equal(list.body.pagination.total, 0);
});

test('a pattern that backtracks is no way to stop the service', async () => {
  const { execute } = await agentWith({ amount: { pattern: '^(a+)+$' } });
  const refused = await execute({ amount: `${'a'.repeat(50_000)}!` });
  assert.deepEqual([refused.status, refused.body.variable], [400, 'amount']);
});

test('another version, pinned later, has its own schemas', async () => {
  const { execute, prompt, path } = await agentWith(variableSchemas);
  const body = { user, model: 'cueline/echo' };
  const version = await service.call('POST', `${prompt.path}/versions`, { key, body });
  assert.deepEqual(version.body.variableSchemas, {});
  const { promptVersionId } = version.body;
  await service.call('PATCH', path, { key, body: { promptVersionId } });
  assert.equal((await execute({ amount: 'five' })).status, 202);
});

test('a workflow step with such a value fails', async () => {
  const { path } = await agentWith({ amount: { type: 'number' } });
  await service.call('POST', `${path}/lifecycle`, { key, body: { action: 'deploy' } });
  const agentId = path.split('/').at(-1);
  const definition = {
    input: { required: ['amount'] },
    steps: [{ name: 'one', agentId, variables: { amount: '{{input.amount}}' } }],
  };
  const made = await service.call('POST', '/api/v1/workflows', {
    key,
    body: { name: 'W', definition },
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const started = await service.call('POST', `/api/v1/workflows/${made.body.workflowId}/execute`, {
    key,
    body: { input: { amount: 'five' } },
  });
  const run = await service.call('GET', `${started.body.statusUrl}?wait=30`, { key });
  assert.deepEqual([run.body.status, run.body.steps[0].errorCode], ['failed', 'INVALID_VARIABLES']);
});

const invalid: [string, object, RegExp][] = [
  [
    'of another type',
    { amount: { type: 'text' } },
    /"variableSchemas.amount" is not a valid JSON schema at \/type/,
  ],
  ['that is a list', { amount: [] }, /variableSchemas/],
  ['with a remote reference', { amount: { $ref: 'https://example.com' } }, /must refer to a part/],
  ['with lookaround', { amount: { pattern: '(?=x)' } }, /RE2 syntax/],
  ['of a variable that no template uses', { total: {} }, /the templates do not use \{\{total\}\}/],
  ['of a malformed name', { 'my-var': {} }, /variableSchemas/],
  ['that is too long', { amount: { enum: ['x'.repeat(66_000)] } }, /longer than 65536 characters/],
];
for (const [what, schemas, message] of invalid) {
  test(`400 for a version with a schema ${what}`, async () => {
    const { path } = await makePrompt(service);
    const body = { user, variableSchemas: schemas };
    const response = await service.call('POST', `${path}/versions`, { key, body });
    assert.deepEqual([response.status, response.body.code], [400, 'INVALID_REQUEST']);
    assert.match(response.body.message, message);
  });
}

test('a declaration has them, and a version never changes', async () => {
  const path = '/api/v1/declaration';
  const declarationOf = (schemas: object) => ({
    prompts: [{ name: 'Declared', versions: [{ label: 'v1', user, variableSchemas: schemas }] }],
  });
  const apply = (schemas: object, dryRun: boolean) =>
    service.call('POST', path, { key, body: { declaration: declarationOf(schemas), dryRun } });
  const broken = await apply({ amount: { type: 'text' } }, true);
  assert.equal(broken.status, 400);
  assert.equal((await apply(variableSchemas, false)).status, 200);
  const again = await apply({ order: variableSchemas.order, amount: variableSchemas.amount }, true);
  assert.deepEqual([again.status, again.body.changes], [200, []]);
  const other = await apply({ amount: {} }, true);
  assert.deepEqual([other.status, /another variableSchemas/.test(other.body.message)], [409, true]);
  const { body } = await service.call('GET', path, { key });
  const prompt = body.declaration.prompts.find(({ name }: { name: string }) => name === 'Declared');
  assert.deepEqual(prompt.versions[0].variableSchemas, variableSchemas);
});
