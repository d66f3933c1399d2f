import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { alertSettings } from '../../../harness/alerts.ts';
import { startService } from '../../../harness/service.ts';
import { toId } from '../../../src/core/id.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();

test('an alert is created with its settings and evaluated soon', async () => {
  const { agentId } = await addAgent(service);
  const settings = { ...alertSettings, agentIds: [agentId], tag: 'beta' };
  const created = await service.call('POST', '/api/v1/alerts', { key, body: settings });
  assert.equal(created.status, 201);
  const { alertId, state, value, stateSince, createdAt, createdBy, updatedAt, ...rest } =
    created.body;
  assert.deepEqual(rest, { ...settings, evaluatedAt: null });
  assert.deepEqual([state, value], ['no_data', null]);
  assert.equal(createdBy, toId('user', service.ownerId));
  assert.ok(stateSince === createdAt || stateSince <= updatedAt);
  assert.equal(created.headers.get('location'), `/api/v1/alerts/${alertId}`);
  for (;;) {
    const { body } = await service.call('GET', `/api/v1/alerts/${alertId}`, { key });
    if (body.evaluatedAt !== null) break;
  }
  const { body: audit } = await service.call('GET', '/api/v1/audit?limit=1', { key });
  assert.deepEqual(
    [audit.audit[0].action, audit.audit[0].subject, audit.audit[0].details],
    ['alert.create', alertId, { name: 'Failures', metric: 'failureRate', threshold: 0.5 }],
  );
});

test('agents and tag may be omitted', async () => {
  const created = await service.call('POST', '/api/v1/alerts', { key, body: alertSettings });
  assert.deepEqual([created.status, created.body.agentIds, created.body.tag], [201, null, null]);
});
