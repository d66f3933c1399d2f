import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { addAlert, addCalls, alertSettings } from '../../../../harness/alerts.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const path = '/api/v1/alerts/preview';

test('settings are previewed without an alert, as those of an alert are', async () => {
  const { id, agentId } = await addAgent(service);
  await addCalls(service, id, 3, { status: 'failed', errorCode: 'PROVIDER_ERROR', minutesAgo: 90 });
  const { name: _, ...settings } = { ...alertSettings, agentIds: [agentId] };
  const { status, body } = await service.call('POST', path, {
    key,
    body: { ...settings, days: 2 },
  });
  assert.equal(status, 200);
  assert.equal(body.firings.length, 1);
  assert.deepEqual((await service.call('GET', '/api/v1/alerts', { key })).body, { alerts: [] });
  const alert = await addAlert(service, key, settings);
  const saved = await service.call('POST', `${alert.path}/preview`, { key, body: { days: 2 } });
  assert.deepEqual(saved.body.firings, body.firings);
});

test('a metric, a threshold and days make a preview', async () => {
  const body = { metric: 'count', threshold: 1, days: 1 };
  const { status, body: preview } = await service.call('POST', path, { key, body });
  assert.equal(status, 200);
  assert.equal(preview.values[0].value, 0);
});

test('settings are checked like those of a new alert', async () => {
  const refused = async (change: object) =>
    (await service.call('POST', path, { key, body: { ...alertSettings, days: 1, ...change } }))
      .status;
  assert.equal(await refused({ clearThreshold: 2 }), 400);
  assert.equal(await refused({ agentIds: ['agt_unknown'] }), 404);
  assert.equal(await refused({ days: undefined }), 400);
});
