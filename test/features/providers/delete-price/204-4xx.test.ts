import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const user = service.ownerId;
const model = 'my-llm/a/b?c=d';
const path = `/api/v1/prices?model=${encodeURIComponent(model)}`;
const prices = async () => (await service.call('GET', '/api/v1/prices', { user })).body.prices;
beforeEach(() => {
  const body = { model, inputPerMillion: 1, outputPerMillion: 1 };
  return service.call('PUT', '/api/v1/prices', { user, body });
});

test('204, and it no longer exists', async () => {
  assert.equal((await service.call('DELETE', path, { user })).status, 204);
  assert.deepEqual(await prices(), []);
  assert.equal((await service.call('DELETE', path, { user })).status, 404);
});

test('404 for a model without a price, 400 for an invalid model name; other prices remain', async () => {
  const { ownerId } = await service.workspace();
  assert.equal((await service.call('DELETE', path, { user: ownerId })).status, 404);
  for (const [query, status] of [
    ['?model=my-llm/other', 404],
    ['?model=my-llm/a%00b', 404],
    ['?model=my-llm', 400],
    ['?model=', 400],
    ['', 400],
  ] as const) {
    const response = await service.call('DELETE', `/api/v1/prices${query}`, { user });
    assert.equal(response.status, status, query);
  }
  assert.equal((await prices()).length, 1);
});
