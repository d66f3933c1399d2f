import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { alertSettings } from '../../../../harness/alerts.ts';
import { startService } from '../../../../harness/service.ts';
import { toId } from '../../../../src/core/id.ts';

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

test('only the metric and the threshold have no default', async () => {
  const settingsOf = async (input: object) => {
    const { status, body } = await service.call('POST', '/api/v1/alerts', { key, body: input });
    assert.equal(status, 201);
    const { name, agentIds, tag, clearThreshold, windowMinutes, minCount, noData } = body;
    return { name, agentIds, tag, clearThreshold, windowMinutes, minCount, noData };
  };
  const same = { agentIds: null, tag: null, windowMinutes: 15, noData: 'keep' };
  assert.deepEqual(await settingsOf({ metric: 'failureRate', threshold: 0.25 }), {
    ...same,
    ...{ name: 'failureRate above 0.25', clearThreshold: 0.25, minCount: 20 },
  });
  assert.deepEqual(await settingsOf({ metric: 'costUSD', threshold: 5 }), {
    ...same,
    ...{ name: 'costUSD above 5', clearThreshold: 5, minCount: 0 },
  });
  const given = { name: 'Slow', minCount: 3, clearThreshold: 4, windowMinutes: 60, noData: 'zero' };
  assert.deepEqual(await settingsOf({ metric: 'p95', threshold: 5, ...given }), {
    ...same,
    ...given,
  });
});
