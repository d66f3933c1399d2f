import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { listPrices } from '../../../../src/features/providers/statements/prices-statements.ts';

const service = await startService();
after(service.close);
const user = service.ownerId;
const put = (body: object) => service.call('PUT', '/api/v1/prices', { user, body });

async function stored(name: string, workspaceId = service.workspaceId) {
  const row = (await listPrices(service.db, workspaceId)).find(({ model }) => model === name);
  if (!row) return null;
  const { model: _, validFrom: __, updatedAt: ___, ...amounts } = row;
  return amounts;
}

test('strings are stored exactly, numbers as their decimal text', async () => {
  const { status, body } = await put({
    model: 'my-llm/tiny',
    inputPerMillion: '0.100000000001',
    outputPerMillion: 0.1,
    cacheReadPerMillion: '2.50',
    cacheWritePerMillion: 1e-7,
  });
  assert.equal(status, 200);
  const { validFrom, updatedAt, model, ...amounts } = body;
  assert.ok(validFrom && updatedAt);
  assert.equal(model, 'my-llm/tiny');
  assert.deepEqual(amounts, {
    inputPerMillion: '0.100000000001',
    outputPerMillion: '0.1',
    cacheReadPerMillion: '2.50',
    cacheWritePerMillion: '0.0000001',
  });
  assert.deepEqual(await stored(model), amounts);
});

test('a put replaces the whole price', async () => {
  const model = 'my-llm/changed';
  const first = await put({
    ...{ model, inputPerMillion: 1, outputPerMillion: 2, cacheReadPerMillion: 0 },
  });
  const { body } = await put({ model, inputPerMillion: '3', outputPerMillion: 1_000_000 });
  assert.ok(body.updatedAt >= first.body.updatedAt);
  assert.deepEqual(await stored(model), {
    ...{ inputPerMillion: '3', outputPerMillion: '1000000' },
    ...{ cacheReadPerMillion: null, cacheWritePerMillion: null },
  });
});

test('a price applies to its workspace and model only', async () => {
  await put({ model: 'openai/gpt', inputPerMillion: 1, outputPerMillion: 1 });
  const { workspaceId } = await service.workspace();
  assert.equal(await stored('openai/gpt', workspaceId), null);
  assert.equal(await stored('openai/GPT'), null);
});

test('400 for options of the built-in model, and for a price that no decimal holds', async () => {
  const good = { model: 'a/b', inputPerMillion: '1', outputPerMillion: '2' };
  for (const [field, value] of [
    ['model', 'cueline/echo?tokens=10'],
    ['outputPerMillion', 1e-13],
    ['inputPerMillion', '1000000.01'],
    ['cacheWritePerMillion', 1e-15],
  ] as const) {
    const { status, body } = await put({ ...good, [field]: value });
    assert.deepEqual([status, body.code], [400, 'INVALID_REQUEST']);
    assert.match(body.message, new RegExp(`"${field}"`));
    assert.equal(await stored('a/b'), null);
  }
});

test('a price of the built-in model counts, whatever its options', async () => {
  await put({ model: 'cueline/echo', inputPerMillion: 0, outputPerMillion: 1000 });
  const agent = await addAgent(service, {
    model: 'cueline/echo?tokens=10',
    config: { maxTokens: 10 },
  });
  const { status, body } = await service.call('POST', `${agent.path}/estimate`, {
    user,
    body: { variables: { name: 'x' } },
  });
  assert.deepEqual([status, body.boundUSD], [200, 0.01], JSON.stringify(body));
});
