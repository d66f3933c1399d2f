import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addEndpoint } from '../../../harness/endpoints.ts';
import { startService } from '../../../harness/service.ts';
import { createProviderHealth } from '../../../src/flow/event/provider-health.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const { db, workspaceId } = service;
await addEndpoint(service, key, {
  url: null,
  eventTypes: ['provider.failing', 'provider.recovered'],
});
const onError = (error: unknown) => assert.fail(error as Error);
const call = { workspaceId, provider: 'openai', model: 'openai/gpt' };

async function types() {
  const { body } = await service.call('GET', '/api/v1/events?limit=100', { key });
  return body.events.map(({ type, data }: { type: string; data: { errorCode?: string } }) => [
    type,
    data.errorCode,
  ]);
}

test('ten failures in a row are reported once, and the recovery after them', async () => {
  const health = createProviderHealth({ db, onError });
  const called = (outcome: string, times = 1) => {
    for (let n = 0; n < times; n++) health.called({ ...call, outcome });
  };
  called('PROVIDER_ERROR', 9);
  called('success');
  called('PROVIDER_ERROR', 5);
  called('deferred', 5);
  called('PROVIDER_AUTH', 4);
  await health.idle();
  assert.deepEqual(await types(), []);
  called('PROVIDER_AUTH', 3);
  health.called({ ...call, model: 'openai/other', outcome: 'PROVIDER_ERROR' });
  await health.idle();
  const failing = ['provider.failing', 'PROVIDER_AUTH'];
  assert.deepEqual(await types(), [failing]);
  // Another process sees the same outage: it is reported already. A process that starts later reports the recovery.
  const other = createProviderHealth({ db, onError });
  for (let n = 0; n < 10; n++) other.called({ ...call, outcome: 'PROVIDER_ERROR' });
  await other.idle();
  assert.deepEqual(await types(), [failing]);
  const later = createProviderHealth({ db, onError });
  later.called({ ...call, outcome: 'success' });
  later.called({ ...call, outcome: 'success' });
  called('CONTEXT_LENGTH');
  await later.idle();
  await health.idle();
  assert.deepEqual(await types(), [failing, ['provider.recovered', undefined]]);
});
