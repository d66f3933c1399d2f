import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, run } from '../../../../harness/agents.ts';
import { addEndpoint } from '../../../../harness/endpoints.ts';
import { startReceiver, toReceivers } from '../../../../harness/receiver.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService({ config: toReceivers });
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);

test('lists the events of an execution with the state of each delivery', async () => {
  const receiver = await startReceiver();
  after(receiver.close);
  const eventTypes = ['execution.succeeded'];
  const description = 'Shop';
  const endpoint = await addEndpoint(service, key, { url: receiver.url, eventTypes, description });
  const pull = await addEndpoint(service, key, { url: null, eventTypes });
  const { executionId } = await run(service, agent, key);
  const [request] = await receiver.received(1);
  const eventId = String(request?.headers['webhook-id']);
  await endpoint.delivered(eventId);
  const path = `${agent.path}/executions/${executionId}/events`;
  const { status, body } = await service.call('GET', path, { user: service.ownerId });
  assert.equal(status, 200);
  const [event] = body.events;
  assert.deepEqual([body.events.length, event.eventId], [1, eventId]);
  assert.deepEqual(
    [event.type, event.timestamp],
    ['execution.succeeded', request?.event.timestamp],
  );
  const [{ lastAttemptAt, ...delivery }] = event.deliveries;
  assert.ok(Date.parse(lastAttemptAt) > 0);
  assert.deepEqual(delivery, {
    ...{ endpointId: endpoint.endpointId, description, state: 'delivered', attempts: 1 },
    ...{ lastStatus: 200, lastError: null, nextAttemptAt: null },
  });
  assert.equal(event.deliveries.length, 1);
  assert.doesNotMatch(JSON.stringify(body), new RegExp(`${pull.endpointId}|${receiver.url}`));
});

test('empty without an endpoint that subscribes', async () => {
  const { executionId } = await run(service, await addAgent(service), key, { name: 'x' });
  const none = await addAgent(service);
  const { executionId: own } = await run(service, none, key);
  assert.notEqual(executionId, own);
  const { endpoints } = (await service.call('GET', '/api/v1/endpoints', { key })).body;
  for (const { endpointId } of endpoints) {
    await service.call('DELETE', `/api/v1/endpoints/${endpointId}`, { key });
  }
  const { executionId: later } = await run(service, none, key);
  const path = `${none.path}/executions/${later}/events`;
  assert.deepEqual((await service.call('GET', path, { key })).body, { events: [] });
});
