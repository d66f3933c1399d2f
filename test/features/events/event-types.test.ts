import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { addEndpoint } from '../../../harness/endpoints.ts';
import { startService } from '../../../harness/service.ts';
import { type EventType, eventTypes } from '../../../src/core/event/event.ts';
import { fromId, toId } from '../../../src/core/id.ts';
import { sql } from '../../../src/db/sql.ts';
import { maintainEndpoints } from '../../../src/features/events/verbs/maintain-endpoints.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const pull = await addEndpoint(service, key, { url: null, eventTypes });

/** The events of these types so far, each with its data. */
async function eventsOf(...types: EventType[]) {
  const all: { type: string; data: Record<string, unknown> }[] = [];
  for (let after = ''; ; ) {
    const { body } = await service.call('GET', `/api/v1/events?limit=100${after}`, { key });
    if (body.events.length === 0) break;
    all.push(...body.events);
    after = `&after=${body.events.at(-1).eventId}`;
  }
  return all
    .filter(({ type }) => (types as string[]).includes(type))
    .map(
      ({ type, data: { sequence: _, ...data } }): Record<string, unknown> => ({ type, ...data }),
    );
}

test('agents are pinned, moved and deleted', async () => {
  const { agentId, path } = await addAgent(service);
  const { body: agent } = await service.call('GET', path, { key });
  const { body: version } = await service.call(
    'POST',
    `/api/v1/prompts/${agent.promptId}/versions`,
    { key, body: { user: 'Hello {{name}}', model: 'cueline/echo' } },
  );
  const { promptVersionId } = version;
  const patch = { key, body: { promptVersionId } };
  assert.equal((await service.call('PATCH', path, patch)).status, 200);
  assert.equal((await service.call('PATCH', path, patch)).status, 200);
  const disable = { key, body: { action: 'disable' } };
  assert.equal((await service.call('POST', `${path}/lifecycle`, disable)).status, 200);
  assert.equal((await service.call('DELETE', path, { key })).status, 204);
  assert.deepEqual(await eventsOf('agent.pinned', 'agent.moved', 'agent.deleted'), [
    { type: 'agent.pinned', agentId, promptId: agent.promptId, promptVersionId },
    { type: 'agent.moved', agentId, action: 'disable', status: 'Paused' },
    { type: 'agent.deleted', agentId },
  ]);
});

test('a revoked key and those that it issued are reported once', async () => {
  const first = await service.key({ permissions: ['manage', 'execute'] });
  const { body: second } = await service.call('POST', '/api/v1/keys', {
    ...{ key: first.key, body: { name: 'S', agentIds: null, permissions: ['execute'] } },
  });
  for (const _ of [1, 2]) {
    await service.call('POST', `/api/v1/keys/${first.apiKeyId}/revoke`, { key });
  }
  const userId = await service.member('editor');
  const third = await service.key({ userId, permissions: ['execute'] });
  await service.call('DELETE', `/api/v1/members/${toId('user', userId)}`, { key });
  const revoked = (await eventsOf('key.revoked')).map((event) => event.apiKeyId);
  assert.deepEqual(
    [revoked.slice(0, 2).toSorted(), revoked.slice(2)],
    [[first.apiKeyId, second.apiKeyId].toSorted(), [third.apiKeyId]],
  );
});

test('a key that expires within seven days is reported once', async () => {
  const soon = await service.key();
  const later = await service.key();
  const expire = async (apiKeyId: string, hours: number) => {
    await sql`
      update api_keys set expires_at = clock_timestamp() + make_interval(hours => ${hours})
      where id = ${fromId('key', apiKeyId)}`.execute(service.db);
  };
  await expire(soon.apiKeyId, 7 * 24 - 1);
  await expire(later.apiKeyId, 7 * 24 + 1);
  await maintainEndpoints(service.db);
  await maintainEndpoints(service.db);
  const [event, ...others] = await eventsOf('key.expiring');
  assert.deepEqual([event?.apiKeyId, others], [soon.apiKeyId, []]);
  assert.ok(Date.parse(String(event?.expiresAt)));
});

test('a recorded refusal is reported with who it was for', async () => {
  const { agentId, path } = await addAgent(service);
  const none = { requestsPerMinute: 0 };
  await service.call('PATCH', path, { key, body: { rateLimits: none } });
  const body = {
    ...{ variables: { name: 'A' }, user: 'u1', session: 's1' },
    ...{ tags: ['t'], metadata: { plan: 'pro' } },
  };
  const { status } = await service.call('POST', `${path}/execute`, { key, body });
  assert.equal(status, 429);
  const [event, ...others] = await eventsOf('execution.refused');
  const { executionId, ...data } = event ?? {};
  assert.match(String(executionId), /^exe_/);
  assert.deepEqual(others, []);
  assert.deepEqual(data, {
    ...{ type: 'execution.refused', agentId, status: 'rate_limited' },
    ...{ errorCode: 'RATE_LIMIT_EXCEEDED', tokensUsed: 0, costUSD: 0 },
    ...{ user: 'u1', session: 's1', tags: ['t'], metadata: { plan: 'pro' } },
  });
});

test('80, 90 and 100 percent of the quota are reported once a month', async () => {
  const { path } = await addAgent(service);
  const plan = async (actionsPerMonth: number) => {
    const body = { name: 'Small', actionsPerMonth };
    assert.equal((await service.call('PUT', '/api/v1/plan', { key, body })).status, 200);
  };
  const { body: before } = await service.call('GET', '/api/v1/usage', { key });
  const used = before.actionsUsed;
  const execute = async () =>
    (await service.call('POST', `${path}/execute`, { key, body: { variables: { name: 'A' } } }))
      .status;
  // Nothing is used yet, so that the shares are those of this test.
  assert.equal(used, 0);
  await plan(10);
  for (let n = 0; n < 10; n++) assert.equal(await execute(), 202);
  assert.equal(await execute(), 429);
  await plan(11);
  assert.equal(await execute(), 202);
  const quota = { month: before.month, actionsPerMonth: 10 };
  assert.deepEqual(await eventsOf('quota.threshold', 'quota.exhausted'), [
    { type: 'quota.threshold', ...quota, actionsUsed: 8, percent: 80 },
    { type: 'quota.threshold', ...quota, actionsUsed: 9, percent: 90 },
    { type: 'quota.exhausted', ...quota, actionsUsed: 10 },
  ]);
});

test('an agent filter applies to executions and agents only', async () => {
  const [one, other] = [await addAgent(service), await addAgent(service)];
  const filtered = await addEndpoint(service, key, {
    url: null,
    eventTypes: ['agent.moved', 'key.revoked'],
    agentIds: [one.agentId],
  });
  for (const { path } of [one, other]) {
    await service.call('POST', `${path}/lifecycle`, { key, body: { action: 'disable' } });
  }
  const spare = await service.key();
  await service.call('POST', `/api/v1/keys/${spare.apiKeyId}/revoke`, { key });
  const { rows } = await sql<{ n: number }>`select count(*) as n from events`.execute(service.db);
  const last = `/api/v1/events?limit=100&endpointId=${filtered.endpointId}`;
  const { body } = await service.call('GET', last, { key });
  const found = body.events.map((event: { data: Record<string, unknown> }) => event.data);
  assert.ok((rows[0]?.n ?? 0) > found.length);
  assert.ok(found.some((data: { apiKeyId?: string }) => data.apiKeyId === spare.apiKeyId));
  const agents = found.flatMap((data: { agentId?: string }) => data.agentId ?? []);
  assert.deepEqual(new Set(agents), new Set([one.agentId]));
  assert.ok(pull.endpointId);
});
