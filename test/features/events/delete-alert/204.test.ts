import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAlert } from '../../../../harness/alerts.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();

test('a deleted alert is gone', async () => {
  const alert = await addAlert(service, key);
  assert.equal((await service.call('DELETE', alert.path, { key })).status, 204);
  assert.equal((await service.call('DELETE', alert.path, { key })).status, 404);
  assert.deepEqual((await service.call('GET', '/api/v1/alerts', { key })).body, { alerts: [] });
  const { body: audit } = await service.call('GET', '/api/v1/audit?limit=1', { key });
  const [{ action, subject }] = audit.audit;
  assert.deepEqual([action, subject], ['alert.delete', alert.alertId]);
});
