import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addEndpoint } from '../../../harness/endpoints.ts';
import { startService } from '../../../harness/service.ts';
import { sql } from '../../../src/db/sql.ts';
import { createProviderHealth } from '../../../src/features/events/verbs/provider-health.ts';

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

test('a failure that could not be written is reported later, at most once a minute', async (t) => {
  let nowMs = performance.now();
  t.mock.method(performance, 'now', () => nowMs);
  const errors: unknown[] = [];
  const health = createProviderHealth({ db, onError: (error) => errors.push(error) });
  const failed = async (times = 1) => {
    const other = { ...call, model: 'openai/unwritten', outcome: 'PROVIDER_ERROR' };
    for (let n = 0; n < times; n++) health.called(other);
    await health.idle();
    return errors.length;
  };
  const before = await types();
  await sql`alter table failing_providers add constraint refused check (model <> 'openai/unwritten')`.execute(
    db,
  );
  assert.equal(await failed(10), 1);
  assert.equal(await failed(5), 1);
  nowMs += 60_000;
  assert.equal(await failed(5), 2);
  await sql`alter table failing_providers drop constraint refused`.execute(db);
  nowMs += 60_000;
  assert.equal(await failed(5), 2);
  nowMs += 60_000;
  assert.equal(await failed(), 2);
  assert.deepEqual(await types(), [...before, ['provider.failing', 'PROVIDER_ERROR']]);
});
