import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
const second = await startService({ sharedWith: service });
after(async () => {
  await second.close();
  await service.close();
});
const body = { variables: { name: 'x' } };

/** Sends many requests at once to both processes within one day window; counts the statuses. */
async function storm(path: string, key: string, calls: number) {
  const responses = await Promise.all(
    Array.from({ length: calls }, (_, index) =>
      (index % 2 ? service : second).call('POST', `${path}/execute`, { key, body }),
    ),
  );
  const refused = responses.filter(({ status }) => status === 429);
  return { accepted: responses.filter(({ status }) => status === 202).length, refused };
}

test('accepts exactly the limit of the key, across two processes', async () => {
  const agent = await addAgent(service);
  const rateLimits = { requestsPerMinute: null, requestsPerHour: null, requestsPerDay: 37 };
  const { key } = await service.key({ rateLimits });
  const { accepted, refused } = await storm(agent.path, key, 60);
  assert.equal(accepted, 37);
  const response = refused[0];
  assert.equal(response?.body.code, 'RATE_LIMIT_EXCEEDED');
  assert.deepEqual(response?.body.rateLimits, rateLimits);
  assert.equal(response?.body.limitedBy.scope, 'key');
  assert.equal(response?.body.limitedBy.window, 'day');
  assert.equal(response?.body.limitedBy.limit, 37);
  assert.equal(response?.headers.get('retry-after'), String(response?.body.retryAfter));
  assert.equal(response?.headers.get('x-ratelimit-remaining'), '0');
});

test('accepts exactly the limit of the agent, whatever its keys allow', async () => {
  const agent = await addAgent(service, { rateLimits: { requestsPerDay: 23 } });
  const keys = await Promise.all([service.key(), service.key()]);
  const storms = await Promise.all(keys.map(({ key }) => storm(agent.path, key, 20)));
  assert.equal(
    storms.reduce((sum, { accepted }) => sum + accepted, 0),
    23,
  );
  assert.equal(storms.flatMap(({ refused }) => refused)[0]?.body.limitedBy.scope, 'agent');
});

test('limits an agent in Testing to the limits of its stage', async () => {
  const capped = await startService({
    sharedWith: service,
    config: {
      testingLimits: { requestsPerMinute: null, requestsPerHour: null, requestsPerDay: 4 },
    },
  });
  try {
    const agent = await addAgent(service, { stage: 'Testing' });
    const { key } = await service.key();
    const call = () => capped.call('POST', `${agent.path}/execute`, { key, body });
    const responses = await Promise.all(Array.from({ length: 6 }, call));
    assert.equal(responses.filter(({ status }) => status === 202).length, 4);
    const refused = responses.find(({ status }) => status === 429);
    assert.equal(refused?.body.limitedBy.scope, 'stage');
  } finally {
    await capped.close();
  }
});

test('rejected requests do not count, and the response tells when the window ends', async () => {
  const agent = await addAgent(service);
  const { key, id } = await service.key({
    rateLimits: { requestsPerMinute: null, requestsPerHour: null, requestsPerDay: 2 },
  });
  await storm(agent.path, key, 5);
  const { rows } = await sql<{ used: number; ends: Date }>`
    select day_used as used, to_timestamp((day + 1) * 86400) as ends from limits where subject = ${id}`.execute(
    service.db,
  );
  assert.equal(rows[0]?.used, 2);
  const { refused } = await storm(agent.path, key, 1);
  assert.equal(refused[0]?.body.limitedBy.resetAt, rows[0]?.ends.toISOString());
});

test('a future window stays in force if the clock is behind it', async () => {
  const agent = await addAgent(service);
  const { key, id } = await service.key({
    rateLimits: { requestsPerMinute: null, requestsPerHour: null, requestsPerDay: 3 },
  });
  await sql`
    update limits set day = floor(extract(epoch from clock_timestamp()) / 86400)::bigint + 1, day_used = 1
    where subject = ${id}`.execute(service.db);
  assert.equal((await storm(agent.path, key, 5)).accepted, 2);
});

test('accepts exactly the quota, counts no refusal, and records refusals', async () => {
  const other = await service.workspace();
  const agent = await addAgent(service, {
    workspaceId: other.workspaceId,
    createdBy: other.ownerId,
  });
  const { key } = await service.key({ userId: other.ownerId, workspaceId: other.workspaceId });
  await sql`update workspaces set actions_per_month = 5 where id = ${other.workspaceId}`.execute(
    service.db,
  );
  const { accepted, refused } = await storm(agent.path, key, 9);
  assert.equal(accepted, 5);
  assert.equal(refused.length, 4);
  assert.equal(refused[0]?.body.code, 'QUOTA_EXCEEDED');
  assert.equal(refused[0]?.body.limitedBy.scope, 'quota');
  assert.equal(refused[0]?.body.limitedBy.window, 'month');
  const { rows } = await sql<{ status: string; errorCode: string; count: number }>`
    select status::text as status, error_code, count(*) from executions
    where agent_id = ${agent.id} and error_code is not null group by 1, 2`.execute(service.db);
  assert.deepEqual(rows, [{ status: 'rate_limited', errorCode: 'QUOTA_EXCEEDED', count: 4 }]);
});

test('a malformed body counts towards the limits', async () => {
  const agent = await addAgent(service);
  const { key } = await service.key({
    rateLimits: { requestsPerMinute: null, requestsPerHour: null, requestsPerDay: 2 },
  });
  const responses = [];
  for (let i = 0; i < 3; i++)
    responses.push(await service.call('POST', `${agent.path}/execute`, { key, body: '{' }));
  assert.deepEqual(
    responses.map(({ status }) => status),
    [400, 400, 429],
  );
});
