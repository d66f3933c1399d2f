import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { addAlert, addCalls, removeCalls } from '../../../../harness/alerts.ts';
import { putRecords } from '../../../../harness/records.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);
const hour = 60;

test('a preview shows when the alert would have fired and cleared', async () => {
  const failure = { status: 'failed', errorCode: 'PROVIDER_ERROR' } as const;
  await addCalls(service, agent.id, 4, { minutesAgo: 10 * hour });
  await addCalls(service, agent.id, 4, { ...failure, minutesAgo: 10 * hour - 2 });
  await addCalls(service, agent.id, 8, { minutesAgo: 10 * hour - 5 });
  const settings = { windowMinutes: 3, threshold: 0.4, clearThreshold: 0.3 };
  const alert = await addAlert(service, key, settings);
  const preview = async (days: number) => {
    const body = { days };
    const { status, body: found } = await service.call('POST', `${alert.path}/preview`, {
      key,
      body,
    });
    assert.equal(status, 200);
    return found;
  };
  const { firings, values } = await preview(1);
  assert.equal(firings.length, 1);
  const [{ firedAt, clearedAt }] = firings;
  // Fires one minute after the failures; clears with the successes, because the failures have left the window by then.
  assert.equal(Date.parse(clearedAt) - Date.parse(firedAt), 3 * 60_000);
  assert.equal(values.length, 289);
  assert.equal(Math.max(...values.map(({ value }: { value: number }) => value)), 1);
  assert.deepEqual((await preview(7)).firings, firings);
  assert.equal((await service.call('GET', alert.path, { key })).body.state, 'no_data');
});

test('days must be 1 to 7', async () => {
  const alert = await addAlert(service, key);
  for (const days of [0, 8, 30, 1.5, '7']) {
    const { status, body } = await service.call('POST', `${alert.path}/preview`, {
      key,
      body: { days },
    });
    assert.equal(status, 400);
    assert.match(body.message, /"days" must be a whole number from 1 to 7/);
  }
});

const previewed = async (metric: string, threshold: number) => {
  const settings = { metric, threshold, clearThreshold: threshold, minCount: 0 };
  const { path } = await addAlert(service, key, settings);
  const { status, body } = await service.call('POST', `${path}/preview`, {
    key,
    body: { days: 1 },
  });
  assert.equal(status, 200);
  const values: (number | null)[] = body.values.map(({ value }: { value: number }) => value);
  return { firings: body.firings, values };
};

test('the quota of the past is that of the calls that were accepted', async () => {
  await removeCalls(service);
  await addCalls(service, agent.id, 4, { minutesAgo: 3 * hour });
  await addCalls(service, agent.id, 2, {
    status: 'canceled',
    errorCode: 'CANCELED',
    minutesAgo: 30,
  });
  const refusal = { status: 'rate_limited', errorCode: 'RATE_LIMIT_EXCEEDED' } as const;
  await addCalls(service, agent.id, 5, { ...refusal, minutesAgo: 30 });
  assert.deepEqual(new Set((await previewed('quotaUsed', 0.3)).values), new Set([null]));
  const plan = { name: 'P', actionsPerMonth: 10 };
  await service.call('PUT', '/api/v1/plan', { key, body: plan });
  const { firings, values } = await previewed('quotaUsed', 0.3);
  assert.equal(firings.length, 1);
  assert.deepEqual(new Set(values.filter((value) => value !== 0.6)), new Set([0, 0.4]));
});

test('the queue age of the past is the wait for the first start', async () => {
  const minuteMs = 60_000;
  const acceptedMs = Math.floor(Date.now() / minuteMs - 2 * hour) * minuteMs;
  const { workspaceId } = service;
  const [id] = await putRecords(service.db, [
    { workspaceId, agentId: agent.id, atMs: acceptedMs + 30_000 },
  ]);
  await sql`
    update executions set started_at = executed_at + interval '10 minutes', completed_at = executed_at + interval '11 minutes'
    where id = ${id}`.execute(service.db);
  const { firings, values } = await previewed('queueAge', 300);
  const at = (minute: number) => new Date(acceptedMs + minute * minuteMs).toISOString();
  assert.deepEqual(firings, [{ firedAt: at(6), clearedAt: at(11) }]);
  assert.equal(Math.max(...values.map(Number)), 570);
});
