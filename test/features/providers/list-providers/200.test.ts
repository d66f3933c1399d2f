import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/providers';
const user = service.ownerId;

test('200 with the providers of the workspace, by name', async () => {
  const { ownerId: stranger } = await service.workspace();
  const put = async (name: string, owner: string) => {
    const body = { kind: 'openai', apiKey: 'sk-x' };
    return (await service.call('PUT', `${path}/${name}`, { user: owner, body })).body;
  };
  await put('foreign', stranger);
  const [b, a, upper] = [await put('b', user), await put('a', user), await put('B', user)];
  const viewer = await service.member('viewer');
  const { status, body } = await service.call('GET', path, { user: viewer });
  assert.deepEqual([status, body], [200, { providers: [upper, a, b], environment: [] }]);
});
