import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { addAlert, addCalls, alertSettings } from '../../../../harness/alerts.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();

test('an omitted field does not change, and null removes a restriction', async () => {
  const { agentId } = await addAgent(service);
  const alert = await addAlert(service, key, { agentIds: [agentId], tag: 'beta' });
  const change = (body: object) => service.call('PATCH', alert.path, { key, body });
  const { body: empty } = await change({});
  assert.equal(empty.updatedAt, empty.createdAt);
  const { body } = await change({ name: 'New', tag: null, minCount: 7 });
  const { alertId, state, value, stateSince, createdAt, createdBy, updatedAt, ...rest } = body;
  assert.deepEqual(rest, {
    ...alertSettings,
    ...{ name: 'New', agentIds: [agentId], tag: null, minCount: 7, evaluatedAt: null },
  });
  assert.equal((await change({ agentIds: null })).body.agentIds, null);
  const { body: audit } = await service.call('GET', '/api/v1/audit?limit=2', { key });
  assert.deepEqual(
    audit.audit.map(({ action, details }: Record<string, unknown>) => [action, details]),
    [
      ['alert.change', { fields: ['agentIds'] }],
      ['alert.change', { fields: ['name', 'tag', 'minCount'] }],
    ],
  );
});

test('thresholds are compared with those that do not change', async () => {
  const alert = await addAlert(service, key, { threshold: 10, clearThreshold: 5 });
  for (const body of [{ threshold: 4 }, { clearThreshold: 11 }]) {
    const { status } = await service.call('PATCH', alert.path, { key, body });
    assert.equal(status, 400);
  }
  const body = { threshold: 4, clearThreshold: 4 };
  assert.equal((await service.call('PATCH', alert.path, { key, body })).status, 200);
});

test('a new threshold applies at the next evaluation', async () => {
  const { id } = await addAgent(service);
  await addCalls(service, id, 5);
  const count = { metric: 'count', threshold: 5, clearThreshold: 5, minCount: 0 };
  const alert = await addAlert(service, key, count);
  assert.equal((await alert.evaluated()).state, 'ok');
  const body = { threshold: 4, clearThreshold: 4 };
  await service.call('PATCH', alert.path, { key, body });
  assert.equal((await alert.evaluated()).state, 'firing');
});

test('unknown alerts and those of other workspaces are not found', async () => {
  const { workspaceId, ownerId: userId } = await service.workspace();
  const other = await service.key({ workspaceId, userId });
  const alert = await addAlert(service, other.key);
  for (const path of [alert.path, '/api/v1/alerts/alr_unknown']) {
    for (const [method, below, body] of [
      ['GET', ''],
      ['PATCH', '', {}],
      ['DELETE', ''],
      ['POST', '/preview', { days: 1 }],
    ] as const) {
      const { status } = await service.call(method, path + below, { key, ...(body && { body }) });
      assert.equal(status, 404, method);
    }
  }
});
