import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../harness/service.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/views';

test('lists the views of the member in the workspace, by name', async () => {
  const user = service.ownerId;
  const other = await service.member('owner');
  await service.call('POST', path, { user: other, body: { name: 'Theirs', search: 'q=x' } });
  for (const name of ['Slow', 'Failures']) {
    await service.call('POST', path, { user, body: { name, search: 'status=failed' } });
  }
  const { status, body } = await service.call('GET', path, { user });
  assert.equal(status, 200);
  assert.deepEqual(
    body.views.map((view: { name: string }) => view.name),
    ['Failures', 'Slow'],
  );
});
