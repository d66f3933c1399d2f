import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended, type TestAgent } from '../../../harness/agents.ts';
import {
  batchWhen,
  jsonLines,
  namedLines,
  resultsOf,
  unlimited,
  upload,
} from '../../../harness/batches.ts';
import { addEndpoint } from '../../../harness/endpoints.ts';
import { during } from '../../../harness/locks.ts';
import { startReceiver, toReceivers } from '../../../harness/receiver.ts';
import { startService } from '../../../harness/service.ts';
import { sql } from '../../../src/db/sql.ts';

/** How lines of batches start: behind other calls, within limits, and with the permissions of their key. */

const slots = 4;
const service = await startService({ config: { slots, ...toReceivers } });
after(service.close);
const receiver = await startReceiver();
after(receiver.close);
const { models, db } = service;
const { key } = await service.key({ rateLimits: unlimited });

async function refusedRecords({ id }: TestAgent): Promise<number> {
  const { rows } = await sql`
    select from executions where agent_id = ${id} and status in ('rate_limited', 'unauthorized')`.execute(
    db,
  );
  return rows.length;
}

async function uploaded(agent: TestAgent, count: number, as = key): Promise<string> {
  const { status, body } = await upload(service, agent, jsonLines(namedLines(count)), { key: as });
  assert.equal(status, 202);
  return body.statusUrl;
}

test('a call precedes the lines that have not started, also those of its own agent', async () => {
  const agent = await addAgent(service);
  const from = models.calls.length;
  // The last slot is reserved for workspaces that hold none.
  const held = Array.from({ length: slots - 1 }, () => models.hold());
  const statusUrl = await uploaded(agent, 30);
  await Promise.all(held.map(({ arrived }) => arrived));
  const running = await batchWhen(service, statusUrl, key, (one) => one.counts.processing === 3);
  assert.equal(running.counts.waiting, 27);
  const body = { variables: { name: 'urgent' } };
  const calls = await Promise.all(
    Array.from({ length: 5 }, () => service.call('POST', `${agent.path}/execute`, { key, body })),
  );
  for (const one of held) one.release();
  await Promise.all(calls.map(({ body: { statusUrl: url } }) => ended(service, url, key)));
  await batchWhen(service, statusUrl, key);
  const order = models.calls.slice(from).map(({ user }) => user.includes('urgent'));
  assert.deepEqual(order.slice(3, 8), Array(5).fill(true));
});

test('however many batches of one workspace wait for a slot, that of another one starts', async () => {
  const [busy, other] = [await addAgent(service), await service.workspace()];
  const owned = { workspaceId: other.workspaceId, createdBy: other.ownerId };
  const idle = await addAgent(service, owned);
  const { key: theirs } = await service.key({
    ...{ workspaceId: other.workspaceId, userId: other.ownerId, rateLimits: unlimited },
  });
  const held = Array.from({ length: slots - 1 }, () => models.hold());
  const waiting = [await uploaded(busy, slots)];
  await Promise.all(held.map(({ arrived }) => arrived));
  // More than one page of the list.
  for (let n = 0; n < 100; n++) waiting.push(await uploaded(busy, 1));
  const { counts } = await batchWhen(service, await uploaded(idle, 1, theirs), theirs);
  assert.equal(counts.success, 1);
  for (const one of held) one.release();
  for (const statusUrl of waiting) await batchWhen(service, statusUrl, key);
});

test('no more lines run than the agent allows', async () => {
  const agent = await addAgent(service, { config: { maxConcurrency: 2 } });
  let [running, most] = [0, 0];
  models.script(
    ...Array.from({ length: 12 }, () => async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return {};
    }),
  );
  const statusUrl = await uploaded(agent, 12);
  const { counts } = await batchWhen(service, statusUrl, key);
  assert.deepEqual([counts.success, most <= 2], [12, true]);
});

test('a batch whose lines cannot be admitted does not stop the others, and is tried again', async () => {
  const broken = await addAgent(service);
  const whole = await addAgent(service);
  await sql`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`.execute(
    db,
  );
  await sql`
    create trigger refuse before insert on execution_queue for each row
    when (new.agent_id = ${sql.lit(broken.id)}) execute function refuse()`.execute(db);
  const first = await uploaded(broken, 3);
  while (service.faults.length === 0) await batchWhen(service, first, key, () => true);
  assert.match(JSON.stringify(service.faults), /batch admission failed/);
  const { counts } = await batchWhen(service, await uploaded(whole, 3), key);
  assert.equal(counts.success, 3);
  assert.equal((await batchWhen(service, first, key, () => true)).counts.waiting, 3);
  await sql`drop trigger refuse on execution_queue`.execute(db);
  assert.equal((await batchWhen(service, first, key)).counts.success, 3);
  service.faults.length = 0;
});

test('lines wait for the limits of the key without spending them or leaving records', async () => {
  const agent = await addAgent(service);
  const limited = await service.key({ rateLimits: { ...unlimited, requestsPerDay: 3 } });
  const statusUrl = await uploaded(agent, 5, limited.key);
  const batch = await batchWhen(service, statusUrl, key, ({ waitingFor, counts }) => {
    return waitingFor !== null && counts.processing === 0;
  });
  assert.deepEqual(
    [batch.waitingFor, batch.counts.success, batch.counts.waiting],
    ['rate_limit', 3, 2],
  );
  await sql`update api_keys set requests_per_day = 4 where id = ${limited.id}`.execute(db);
  await batchWhen(service, statusUrl, key, ({ counts }) => counts.success === 4);
  await sql`update api_keys set requests_per_day = 5 where id = ${limited.id}`.execute(db);
  const done = await batchWhen(service, statusUrl, key);
  assert.deepEqual([done.status, done.waitingFor], ['completed', null]);
  assert.equal(await refusedRecords(agent), 0);
  const { rows } = await sql`select day_used from limits where subject = ${limited.id}`.execute(db);
  assert.deepEqual(rows, [{ dayUsed: 5 }]);
});

test('lines wait while the agent is paused, and for the quota, and are counted once', async () => {
  const agent = await addAgent(service, { rateLimits: { requestsPerDay: 1 } });
  const { id: keyId, key: own } = await service.key({ rateLimits: unlimited });
  const statusUrl = await uploaded(agent, 4, own);
  await batchWhen(service, statusUrl, key, ({ waitingFor }) => waitingFor === 'rate_limit');
  const action = async (name: string) =>
    assert.equal(
      (await service.call('POST', `${agent.path}/lifecycle`, { key, body: { action: name } }))
        .status,
      200,
    );
  await action('disable');
  await batchWhen(service, statusUrl, key, ({ waitingFor }) => waitingFor === 'agent_paused');
  await sql`update agents set requests_per_day = null where id = ${agent.id}`.execute(db);
  const setQuota = (left: number | null) =>
    sql`
    update workspaces w set actions_per_month = l.month_used + ${left}::int
    from limits l where l.subject = w.id and w.id = ${service.workspaceId}`.execute(db);
  await setQuota(1);
  await action('re-enable');
  const waiting = await batchWhen(service, statusUrl, key, (one) => one.waitingFor === 'quota');
  assert.equal(waiting.counts.waiting, 2);
  await setQuota(null);
  const { counts, status } = await batchWhen(service, statusUrl, key);
  assert.deepEqual([status, counts.success], ['completed', 4]);
  assert.equal(await refusedRecords(agent), 0);
  const { rows } = await sql`select day_used from limits where subject = ${keyId}`.execute(db);
  assert.deepEqual(rows, [{ dayUsed: 4 }]);
});

test('a line that an earlier version has accepted starts, however many variables it has', async () => {
  const agent = await addAgent(service, { rateLimits: { requestsPerDay: 0 } });
  const statusUrl = await uploaded(agent, 1);
  await batchWhen(service, statusUrl, key, ({ waitingFor }) => waitingFor === 'rate_limit');
  const names = Array.from({ length: 10_001 }, (_, n) => `"n${n}":1`);
  await sql`
    update batch_lines l set variables = ${`{"name":"x",${names}}`} from batches b
    where b.id = l.batch_id and b.agent_id = ${agent.id}`.execute(db);
  await sql`update agents set requests_per_day = null where id = ${agent.id}`.execute(db);
  const { counts } = await batchWhen(service, statusUrl, key);
  assert.equal(counts.success, 1);
});

const losses: [
  string,
  string,
  (given: { id: string; apiKeyId: string; agent: TestAgent; userId: string }) => Promise<unknown>,
][] = [
  [
    'its key is revoked',
    'key_ended',
    ({ apiKeyId }) => service.call('POST', `/api/v1/keys/${apiKeyId}/revoke`, { key }),
  ],
  [
    'its issuer may not execute any more',
    'permission_lost',
    ({ userId }) => sql`update members set role = 'viewer' where user_id = ${userId}`.execute(db),
  ],
  [
    'its issuer does not see the agent any more',
    'permission_lost',
    ({ agent }) => sql`update agents set visibility = 'private' where id = ${agent.id}`.execute(db),
  ],
  [
    'its agent is deleted',
    'agent_deleted',
    async ({ agent }) => {
      await service.call('POST', `${agent.path}/lifecycle`, { key, body: { action: 'disable' } });
      const { status } = await service.call('DELETE', agent.path, { key });
      assert.equal(status, 204);
    },
  ],
];
for (const [what, reason, lose] of losses) {
  test(`waiting lines are canceled when ${what}, and running ones end`, async () => {
    const agent = await addAgent(service, { rateLimits: { requestsPerDay: 1 } });
    const userId = await service.member('editor');
    const own = await service.key({ userId, rateLimits: unlimited });
    const count = receiver.requests.length;
    const endpoint = await addEndpoint(service, key, {
      ...{ url: receiver.url, eventTypes: ['batch.completed'] },
    });
    const held = models.hold();
    const { body } = await upload(service, agent, jsonLines(namedLines(4)), { key: own.key });
    await held.arrived;
    await lose({ ...own, agent, userId });
    const { batchId } = body;
    const read = async () => {
      const { rows } = await sql<Record<string, unknown>>`
        select status, canceled_because, waiting, processing, success, canceled from batches
        where agent_id = ${agent.id}`.execute(db);
      return rows[0];
    };
    while ((await read())?.canceled !== 3);
    assert.deepEqual(await read(), {
      ...{ status: 'canceled', canceledBecause: reason },
      ...{ waiting: 0, processing: 1, success: 0, canceled: 3 },
    });
    held.release();
    const [request] = (await receiver.received(count + 1)).slice(count);
    const { data, type } = request?.event ?? assert.fail();
    assert.deepEqual([type, data.batchId, data.status], ['batch.completed', batchId, 'canceled']);
    assert.deepEqual([data.counts.success, data.counts.canceled], [1, 3]);
    assert.equal((await read())?.success, 1);
    await endpoint.call('DELETE');
  });
}

test('the end of a batch is one event, with its counts', async () => {
  const agent = await addAgent(service);
  const count = receiver.requests.length;
  const endpoint = await addEndpoint(service, key, {
    ...{ url: receiver.url, eventTypes: ['batch.completed', 'execution.succeeded'] },
  });
  const statusUrl = await uploaded(agent, 20);
  const requests = (await receiver.received(count + 21)).slice(count);
  const ends = requests.filter(({ event }) => event.type === 'batch.completed');
  assert.equal(ends.length, 1);
  const { counts, status, agentId } = ends[0]?.event.data ?? {};
  const batch = await batchWhen(service, statusUrl, key);
  assert.deepEqual([counts, status, agentId], [batch.counts, 'completed', agent.agentId]);
  await endpoint.call('DELETE');
});

test('an erasure scans the records of lines that start until it has locked their batch', async () => {
  const agent = await addAgent(service, { config: { maxConcurrency: 1 } });
  const held = models.hold();
  const statusUrl = await uploaded(agent, 2);
  await held.arrived;
  const user = service.ownerId;
  let admittedAt: Date | undefined;
  // As an admission does: it locks the batch, and its executions get ids of the time of that lock or later.
  const response = await during(
    db,
    async (trx) => {
      await sql`select from batches where agent_id = ${agent.id} for update`.execute(trx);
    },
    async () => {
      const path = '/api/v1/erasures';
      return service.call('POST', path, { user, body: { user: 'nobody@example.com' } });
    },
    async (trx) => {
      const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(trx);
      admittedAt = rows[0]?.now;
    },
  );
  assert.equal(response.status, 202);
  const { rows } = await sql`
    select down_to > id_floor(${admittedAt}) as "isScanned" from erasures order by id desc limit 1`.execute(
    db,
  );
  assert.deepEqual(rows, [{ isScanned: true }]);
  held.release();
  await batchWhen(service, statusUrl, key);
});

test('an erasure cancels the lines of the person that wait, and removes the names', async () => {
  const agent = await addAgent(service, { rateLimits: { requestsPerDay: 1 } });
  const lines = [
    { id: '1', variables: { name: 'a' } },
    { id: '2', variables: { name: 'b' }, user: 'erased@example.com', metadata: { k: 'v' } },
    { id: '3', variables: { name: 'secret' } },
    { id: '4', variables: { name: 'd' } },
    { id: '5', variables: { name: 'e' }, tags: ['her secret'] },
    { id: '6', variables: { name: 'f' }, metadata: { of: 'secret', k: 'v' } },
  ];
  const { body } = await upload(service, agent, jsonLines(lines), { key });
  const { statusUrl } = body;
  await batchWhen(service, statusUrl, key, ({ counts }) => counts.success === 1);
  const owner = await service.member('owner');
  for (const erasure of [
    { user: 'erased@example.com' },
    { variable: 'name', value: 'secret' },
    { tag: 'her secret' },
    { metadata: { of: 'secret' } },
  ]) {
    const response = await service.call('POST', '/api/v1/erasures', { user: owner, body: erasure });
    assert.equal(response.status, 202);
  }
  const { counts } = await batchWhen(service, statusUrl, key, () => true);
  assert.deepEqual([counts.waiting, counts.canceled], [1, 4]);
  const results = await resultsOf(service, statusUrl, key);
  assert.deepEqual(
    results.map(({ id, status, error }) => [id, status, error]),
    [
      ['1', 'success', null],
      [null, 'canceled', 'The user or a value of the line was erased.'],
      [null, 'canceled', 'The user or a value of the line was erased.'],
      ['4', 'waiting', null],
      [null, 'canceled', 'The user or a value of the line was erased.'],
      [null, 'canceled', 'The user or a value of the line was erased.'],
    ],
  );
  const { rows } = await sql<{ text: string }>`
    select string_agg(l::text, ' ') as text from batch_lines l`.execute(db);
  assert.doesNotMatch(rows[0]?.text ?? '', /erased@example.com|secret/);
  await sql`update agents set requests_per_day = null where id = ${agent.id}`.execute(db);
  const done = await batchWhen(service, statusUrl, key);
  assert.deepEqual([done.status, done.counts.success], ['completed', 2]);
});
