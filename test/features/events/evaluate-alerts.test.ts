import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { addAlert, addCalls, makeDue, removeCalls } from '../../../harness/alerts.ts';
import { addEndpoint } from '../../../harness/endpoints.ts';
import { startReceiver, toReceivers } from '../../../harness/receiver.ts';
import { startService } from '../../../harness/service.ts';
import { sql } from '../../../src/db/sql.ts';
import { evaluateAlerts } from '../../../src/features/events/verbs/evaluate-alerts.ts';

const service = await startService({ config: toReceivers });
const second = await startService({ config: toReceivers, sharedWith: service });
after(async () => {
  await second.close();
  await service.close();
});
const { db } = service;
const { key } = await service.key();
const agent = await addAgent(service);
await addEndpoint(service, key, {
  url: null,
  eventTypes: ['alert.fired', 'alert.cleared'],
});
beforeEach(() => removeCalls(service));

async function eventsOf(alertId: string) {
  const { events } = (await service.call('GET', '/api/v1/events?limit=100', { key })).body;
  return (events as { type: string; data: Record<string, unknown> }[])
    .filter(({ data }) => data.alertId === alertId)
    .map(({ type, data: { name, metric, value, threshold } }) => [
      ...[type, name, metric, value, threshold],
    ]);
}

const failure = { status: 'failed', errorCode: 'PROVIDER_ERROR' } as const;

test('an alert fires and clears with one event each', async () => {
  const alert = await addAlert(service, key);
  assert.equal((await alert.evaluated()).state, 'no_data');
  await addCalls(service, agent.id, 1);
  assert.equal((await alert.evaluated()).state, 'ok');
  await addCalls(service, agent.id, 3, failure);
  const fired = await alert.evaluated();
  assert.deepEqual([fired.state, fired.value], ['firing', 0.75]);
  assert.ok(fired.stateSince > fired.createdAt);
  assert.equal((await alert.evaluated()).state, 'firing');
  await addCalls(service, agent.id, 5);
  assert.deepEqual((await alert.evaluated()).value, 3 / 9);
  await removeCalls(service);
  await addCalls(service, agent.id, 4);
  assert.equal((await alert.evaluated()).state, 'ok');
  assert.deepEqual(await eventsOf(alert.alertId), [
    ['alert.fired', 'Failures', 'failureRate', 0.75, 0.5],
    ['alert.cleared', 'Failures', 'failureRate', 0, 0.5],
  ]);
  assert.equal((await service.call('DELETE', alert.path, { key })).status, 204);
});

test('any number of processes and evaluators write one event per change', async () => {
  const alerts = await Promise.all(
    Array.from({ length: 10 }, (_, n) => addAlert(service, key, { name: `A${n}` })),
  );
  const everywhere = async () => {
    await Promise.all(alerts.map(({ alertId }) => makeDue(service, alertId)));
    const onError = (error: unknown) => service.faults.push(error);
    await Promise.all(
      [db, second.db, db, second.db].map((one) => evaluateAlerts({ db: one, onError })),
    );
    return Promise.all(alerts.map((alert) => alert.evaluated()));
  };
  await addCalls(service, agent.id, 2, failure);
  for (const { state } of await everywhere()) assert.equal(state, 'firing');
  await removeCalls(service);
  await addCalls(service, agent.id, 2);
  for (const { state } of await everywhere()) assert.equal(state, 'ok');
  for (const { alertId, path } of alerts) {
    assert.deepEqual(
      (await eventsOf(alertId)).map(([type]) => type),
      ['alert.fired', 'alert.cleared'],
    );
    await service.call('DELETE', path, { key });
  }
});

test('a state is not changed unless its event is written', async () => {
  const alert = await addAlert(service, key);
  await alert.evaluated();
  await addCalls(service, agent.id, 1, failure);
  await sql`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`.execute(
    db,
  );
  await sql`create trigger refuse before insert on events for each row execute function refuse()`.execute(
    db,
  );
  await makeDue(service, alert.alertId);
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  while (errors.length === 0) await evaluateAlerts({ db, onError });
  assert.match(String(errors[0]), /refused/);
  const { body } = await service.call('GET', alert.path, { key });
  assert.deepEqual([body.state, body.evaluatedAt], ['no_data', null]);
  await sql`drop trigger refuse on events`.execute(db);
  assert.equal((await alert.evaluated()).state, 'firing');
  assert.equal((await eventsOf(alert.alertId)).length, 1);
  await service.call('DELETE', alert.path, { key });
  // The background evaluation of this service may have met the trigger too.
  service.faults.length = 0;
  second.faults.length = 0;
});

test('an alert that cannot be evaluated does not stop the others', async () => {
  const broken = await addAlert(service, key, { metric: 'p95', threshold: 5, clearThreshold: 5 });
  const whole = await addAlert(service, key, { metric: 'count', threshold: 5, clearThreshold: 5 });
  await sql`alter table alerts add constraint refused check (metric <> 'p95' or value is null)`.execute(
    db,
  );
  await addCalls(service, agent.id, 7, { latencyMs: 7 });
  const errors: unknown[] = [];
  await makeDue(service, broken.alertId);
  await makeDue(service, whole.alertId);
  while (errors.length === 0) {
    await evaluateAlerts({ db, onError: (error) => errors.push(error) });
  }
  for (;;) {
    const { body: other } = await service.call('GET', whole.path, { key });
    if (other.evaluatedAt !== null) break;
  }
  const { body } = await service.call('GET', broken.path, { key });
  assert.deepEqual([body.value, body.evaluatedAt], [null, null]);
  await sql`alter table alerts drop constraint refused`.execute(db);
  assert.notEqual((await broken.evaluated()).value, null);
  assert.equal((await whole.evaluated()).value, 7);
  for (const { path } of [broken, whole]) await service.call('DELETE', path, { key });
  service.faults.length = 0;
  second.faults.length = 0;
});

test('noData keeps a firing alert, counts zero, or fires', async () => {
  const settings = { metric: 'p95', threshold: 50, clearThreshold: 50 };
  const alerts = await Promise.all(
    ['keep', 'zero', 'fire'].map((noData) => addAlert(service, key, { ...settings, noData })),
  );
  const states = async () =>
    Promise.all(alerts.map(async (one) => (await one.evaluated()).state as string));
  assert.deepEqual(await states(), ['no_data', 'ok', 'firing']);
  await addCalls(service, agent.id, 1, { latencyMs: 1_000 });
  assert.deepEqual(await states(), ['firing', 'firing', 'firing']);
  await removeCalls(service);
  assert.deepEqual(await states(), ['firing', 'ok', 'firing']);
  const fired = (await eventsOf(alerts[2]?.alertId ?? ''))[0];
  assert.deepEqual(fired, ['alert.fired', 'Failures', 'p95', null, 50]);
  for (const { path } of alerts) await service.call('DELETE', path, { key });
});

test('agents and tags restrict what counts, and a deleted agent has no further calls', async () => {
  const [one, two] = [await addAgent(service), await addAgent(service)];
  const count = { metric: 'count', threshold: 100, clearThreshold: 0, minCount: 0 };
  const ofOne = await addAlert(service, key, { ...count, agentIds: [one.agentId] });
  const all = await addAlert(service, key, count);
  const beta = await addAlert(service, key, { ...count, tag: 'beta' });
  const labels = { user: null, session: null, tags: ['beta'], metadata: null };
  // A quarter of an hour that lies inside the window counts without its records.
  await addCalls(service, one.id, 2, { minutesAgo: 31, labels });
  await addCalls(service, two.id, 3, { minutesAgo: 31 });
  await addCalls(service, two.id, 5, { minutesAgo: 61, labels });
  const values = async () =>
    Promise.all([ofOne, all, beta].map(async (alert) => (await alert.evaluated()).value));
  assert.deepEqual(await values(), [2, 5, 2]);
  const { body } = await service.call('GET', one.path, { key });
  assert.equal(body.status, 'Deployed');
  await service.call('POST', `${one.path}/lifecycle`, { key, body: { action: 'disable' } });
  assert.equal((await service.call('DELETE', one.path, { key })).status, 204);
  assert.deepEqual(await values(), [2, 5, 2]);
  const changed = await service.call('PATCH', ofOne.path, { key, body: { name: 'Still there' } });
  assert.deepEqual([changed.status, changed.body.agentIds], [200, [one.agentId]]);
  for (const { path } of [ofOne, all, beta]) await service.call('DELETE', path, { key });
});

test('the quota and the cost are measured', async () => {
  const shared = { threshold: 1, clearThreshold: 1, minCount: 0 };
  const quota = await addAlert(service, key, { ...shared, metric: 'quotaUsed' });
  const cost = await addAlert(service, key, { ...shared, metric: 'costUSD' });
  const unknown = await addAlert(service, key, { ...shared, metric: 'costUnknown' });
  await addCalls(service, agent.id, 3, { costUsd: '0.1', costKnown: false });
  const plan = (actionsPerMonth: number | null) =>
    service.call('PUT', '/api/v1/plan', { key, body: { name: 'P', actionsPerMonth } });
  const monthUsed = async (used: number, monthsAgo = 0) =>
    sql`update limits set month_used = ${used},
      month = (extract(year from clock_timestamp() at time zone 'UTC') - 1970) * 12
        + extract(month from clock_timestamp() at time zone 'UTC') - 1 - ${monthsAgo}::int
      where subject = ${service.workspaceId}`.execute(db);
  await plan(null);
  assert.equal((await quota.evaluated()).value, null);
  assert.equal((await plan(8)).status, 200);
  await monthUsed(2);
  assert.equal((await quota.evaluated()).value, 0.25);
  await monthUsed(2, 1);
  assert.equal((await quota.evaluated()).value, 0);
  assert.equal((await cost.evaluated()).value, 0.3);
  assert.equal((await unknown.evaluated()).value, 3);
  for (const { path } of [quota, cost, unknown]) await service.call('DELETE', path, { key });
});

test('a message for Slack says what fired', async (t) => {
  const receiver = await startReceiver();
  t.after(receiver.close);
  const slack = await addEndpoint(service, key, {
    ...{ url: receiver.url, format: 'slack', eventTypes: ['alert.fired'] },
  });
  const alert = await addAlert(service, key, { name: 'Too <many> & more' });
  await addCalls(service, agent.id, 3, failure);
  await alert.evaluated();
  const [sent] = await receiver.received(1);
  assert.deepEqual(JSON.parse(sent?.body ?? ''), {
    text: `*Alert fired: Too &lt;many&gt; &amp; more* · failureRate is 1, threshold 0.5 · ${alert.alertId}`,
  });
  await slack.call('DELETE');
  await service.call('DELETE', alert.path, { key });
});
