import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/prices';
const user = service.ownerId;

test('200 with the prices of the workspace, by model', async () => {
  const { ownerId: stranger } = await service.workspace();
  const put = async (model: string, owner: string) => {
    const body = { model, inputPerMillion: '1', outputPerMillion: '2' };
    return (await service.call('PUT', path, { user: owner, body })).body;
  };
  await put('foreign/model', stranger);
  const [b, a] = [await put('b/model', user), await put('a/model', user)];
  const viewer = await service.member('viewer');
  const { status, body } = await service.call('GET', path, { user: viewer });
  assert.deepEqual([status, body], [200, { prices: [a, b] }]);
});
