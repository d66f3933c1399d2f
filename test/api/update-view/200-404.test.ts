import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../harness/service.ts';

const service = await startService();
after(service.close);
const user = service.ownerId;
const path = '/api/v1/views';

async function save(name: string) {
  const body = { name, search: 'status=failed' };
  return (await service.call('POST', path, { user, body })).body;
}

test('renames a view and replaces its filters', async () => {
  const view = await save('One');
  await save('Two');
  const one = `${path}/${view.viewId}`;
  const patch = (body: object) => service.call('PATCH', one, { user, body });
  assert.deepEqual((await patch({})).body, view);
  assert.deepEqual((await patch({ name: 'Uno' })).body, { ...view, name: 'Uno' });
  const changed = { ...view, name: 'Uno', search: 'q=tide' };
  assert.deepEqual((await patch({ name: 'Uno', search: 'q=tide' })).body, changed);
  assert.equal((await patch({ name: 'Two' })).status, 409);
});

test("404 for an unknown view and another member's", async () => {
  const { viewId } = await save('Mine');
  const other = await service.member('owner');
  const patch = (id: string, who: string) =>
    service.call('PATCH', `${path}/${id}`, { user: who, body: { name: 'Theirs' } });
  assert.equal((await patch('viw_nothing', user)).status, 404);
  assert.equal((await patch(viewId, other)).status, 404);
});
