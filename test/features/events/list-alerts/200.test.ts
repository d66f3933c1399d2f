import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAlert } from '../../../../harness/alerts.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();

test('the alerts of the workspace are listed, oldest first', async () => {
  const { workspaceId, ownerId: userId } = await service.workspace();
  await addAlert(service, (await service.key({ workspaceId, userId })).key);
  const [first, second] = [await addAlert(service, key), await addAlert(service, key)];
  const { body } = await service.call('GET', '/api/v1/alerts', { key });
  const ids = body.alerts.map(({ alertId }: { alertId: string }) => alertId);
  assert.deepEqual(ids, [first.alertId, second.alertId]);
});
