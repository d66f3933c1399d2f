import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { startReceiver, toReceivers } from '../../../../harness/receiver.ts';
import { startService } from '../../../../harness/service.ts';
import { formatFor } from '../../../../src/core/event/endpoint.ts';

const service = await startService({ config: toReceivers });
after(service.close);
const receiver = await startReceiver();
after(receiver.close);
const { key } = await service.key();

test('an endpoint is created with a secret that no later response shows', async () => {
  const body = { url: receiver.url, eventTypes: ['execution.succeeded'], description: 'Shop' };
  const created = await service.call('POST', '/api/v1/endpoints', { key, body });
  assert.equal(created.status, 201);
  const { secret, ...endpoint } = created.body;
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  const { enabled, payload, format, agentIds, description } = endpoint;
  assert.deepEqual(
    { enabled, payload, format, agentIds, description },
    { enabled: true, payload: 'thin', format: 'standard', agentIds: null, description: 'Shop' },
  );
  const path = `/api/v1/endpoints/${endpoint.endpointId}`;
  assert.equal(created.headers.get('location'), path);
  assert.deepEqual((await service.call('GET', path, { key })).body, endpoint);
  const { body: list } = await service.call('GET', '/api/v1/endpoints', { key });
  assert.deepEqual(list, { endpoints: [endpoint] });
});

test('an endpoint that names no events gets those of alerts', async () => {
  const body = { url: receiver.url };
  const created = await service.call('POST', '/api/v1/endpoints', { key, body });
  assert.deepEqual(created.body.eventTypes, ['alert.fired', 'alert.cleared']);
});

test('Slack and Teams get messages unless the endpoint says otherwise', () => {
  for (const [url, format] of [
    ['https://hooks.slack.com/services/T0/B0/x', 'slack'],
    ['https://shop.webhook.office.com/webhookb2/x', 'slack'],
    ['https://prod-1.westeurope.logic.azure.com:443/workflows/x', 'slack'],
    ['https://hooks.slack.com.example.com/x', 'standard'],
    ['https://shop.example.com/hooks.slack.com', 'standard'],
    [null, 'standard'],
  ] as const) {
    assert.equal(formatFor(url), format, String(url));
  }
});

test('a ping is signed as Standard Webhooks specifies, whatever the endpoint subscribes to', async () => {
  const { body } = await service.call('POST', '/api/v1/endpoints', {
    key,
    body: { url: receiver.url, eventTypes: ['key.revoked'] },
  });
  const path = `/api/v1/endpoints/${body.endpointId}`;
  const count = receiver.requests.length;
  assert.equal((await service.call('POST', `${path}/test`, { key })).status, 202);
  const request = (await receiver.received(count + 1)).at(-1);
  assert.ok(request);
  assert.equal(request.headers['content-type'], 'application/json');
  const verified = new Webhook(body.secret).verify(request.body, request.headers);
  assert.deepEqual(verified, request.event);
  assert.deepEqual([request.event.type, request.event.data.endpointId], ['ping', body.endpointId]);
});
