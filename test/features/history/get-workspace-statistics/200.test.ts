import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, type TestAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { insertStatistics, tally } from '../../../../harness/statistics.ts';
import { sql } from '../../../../src/db/sql.ts';
import type { Bucket } from '../../../../src/features/history/contract/statistics-contract.ts';

const service = await startService();
after(service.close);

const day = '2026-03-04';
const at = Date.parse(`${day}T10:07:00Z`);
const range = `startDate=${day}&endDate=${day}`;

/** The caller is the owner by default. */
async function statistics(query = '', who: object = { user: service.ownerId }) {
  const path = `/api/v1/statistics?${range}${query}`;
  const { status, body } = await service.call('GET', path, who);
  assert.equal(status, 200);
  return body;
}

/** The number of executions of each agent that the response shows. */
async function counts(agents: readonly TestAgent[], query: string, who?: object) {
  const { buckets } = await statistics(`&groupBy=agent${query}`, who);
  return agents.map(({ agentId }) =>
    (buckets as Bucket[])
      .filter((one) => one.agentId === agentId)
      .reduce((sum, one) => sum + one.count, 0),
  );
}

async function agentWith(calls: number, options: Parameters<typeof addAgent>[1] = {}) {
  const agent = await addAgent(service, options);
  const one = tally({ agentId: agent.id, executedAtMs: at });
  await insertStatistics(
    service.db,
    Array.from({ length: calls }, () => one),
  );
  return agent;
}

test('only the named agents count, if the caller can see them', async () => {
  const [ours, theirs] = [await service.workspace(), await service.workspace()];
  const agentOf = ({ workspaceId, ownerId }: typeof ours, calls: number) =>
    agentWith(calls, { workspaceId, createdBy: ownerId });
  const user = ours.ownerId;
  const [one, two, other] = [
    await agentOf(ours, 2),
    await agentOf(ours, 3),
    await agentOf(theirs, 100),
  ];
  const agents = [one, two, other];
  const named = `&agentIds=${one.agentId},${other.agentId},agt_unknown`;
  assert.deepEqual(await counts(agents, named, { user }), [2, 0, 0]);
  const all = await statistics(`${named}&level=all&groupBy=none`, { user });
  assert.equal(all.buckets[0].count, 2);
  assert.deepEqual((await statistics('&agentIds=agt_unknown', { user })).buckets, []);
});

test('adds up all agents of the workspace only', async () => {
  const [ours, theirs] = [await service.workspace(), await service.workspace()];
  const agentOf = ({ workspaceId, ownerId }: typeof ours, calls: number) =>
    agentWith(calls, { workspaceId, createdBy: ownerId });
  const user = ours.ownerId;
  const [one, two, other] = [
    await agentOf(ours, 2),
    await agentOf(ours, 3),
    await agentOf(theirs, 100),
  ];
  assert.deepEqual(await counts([one, two, other], '', { user }), [2, 3, 0]);
  const all = await statistics('&level=all&groupBy=none', { user });
  assert.equal('agentId' in all, false);
  assert.deepEqual(all.groupBy, []);
  assert.deepEqual([all.startDate, all.endDate], [`${day}T00:00:00.000Z`, `${day}T23:59:59.999Z`]);
  assert.deepEqual(all.buckets, [
    {
      ...{ start: all.startDate, end: all.endDate, count: 5, recorded: 5, successRate: 1 },
      ...{ inputTokens: 50, outputTokens: 100, costUSD: 0, costUnknown: 0 },
      latencyMs: { p50: 99, p95: 99, p99: 99 },
    },
  ]);
  const { buckets } = await statistics('&groupBy=agent', { user: theirs.ownerId });
  assert.deepEqual(
    buckets.map((bucket: Bucket) => [bucket.agentId, bucket.agentName, bucket.count]),
    [[other.agentId, 'Agent', 100]],
  );
});

test('a private agent counts for its creator and owners; a limited key counts its agents', async () => {
  const editor = await service.member('editor');
  const [open, own, hidden] = [
    await agentWith(1),
    await agentWith(2, { visibility: 'private', createdBy: editor }),
    await agentWith(4, { visibility: 'private' }),
  ];
  const agents = [open, own, hidden];
  assert.deepEqual(await counts(agents, ''), [1, 2, 4]);
  assert.deepEqual(await counts(agents, '', { user: editor }), [1, 2, 0]);
  assert.deepEqual(await counts(agents, '', { user: await service.member('viewer') }), [1, 0, 0]);
  const { key } = await service.key({ agentIds: [hidden.agentId], permissions: ['read'] });
  assert.deepEqual(await counts(agents, '', { key }), [0, 0, 4]);
  const tied = await statistics('&level=all&groupBy=none', { key });
  assert.equal(tied.buckets[0].count, 4);
  const issued = await service.key({ userId: editor });
  assert.deepEqual(await counts(agents, '', { key: issued.key }), [1, 2, 0]);
});

test('a deleted agent still counts by name; its own statistics return 404', async () => {
  const editor = await service.member('editor');
  const [open, hidden] = [await agentWith(5), await agentWith(6, { visibility: 'private' })];
  const { key } = await service.key({ agentIds: [open.agentId] });
  for (const { path } of [open, hidden]) {
    await service.call('POST', `${path}/lifecycle`, {
      user: service.ownerId,
      body: { action: 'rollback' },
    });
    await service.call('DELETE', path, { user: service.ownerId });
  }
  const gone = await service.call('GET', `${open.path}/statistics`, { user: service.ownerId });
  assert.equal(gone.status, 404);
  for (const query of ['', '&level=hour', ',model']) {
    assert.deepEqual(await counts([open, hidden], query), [5, 6]);
    assert.deepEqual(await counts([open, hidden], query, { user: editor }), [5, 0]);
    assert.deepEqual(await counts([open, hidden], query, { key }), [5, 0]);
  }
  const { buckets } = await statistics('&groupBy=agent');
  const bucket = buckets.find((one: Bucket) => one.agentId === open.agentId);
  assert.equal(bucket.agentName, 'Agent');
});

test('groups hours by agent and status in one request', async () => {
  const agents = await Promise.all([1, 2, 3].map(() => addAgent(service)));
  const hours = [0, 1, 23];
  await insertStatistics(
    service.db,
    agents.flatMap(({ id }) =>
      hours.flatMap((hour) => [
        tally({ agentId: id, executedAtMs: Date.parse(day) + hour * 3_600_000 }),
        tally({
          ...{ agentId: id, executedAtMs: Date.parse(day) + hour * 3_600_000 + 1 },
          ...{ status: 'failed', errorCode: 'MODEL_TIMEOUT' },
        }),
      ]),
    ),
  );
  const { buckets } = await statistics('&level=hour&groupBy=agent,status');
  for (const { agentId } of agents) {
    const own = (buckets as Bucket[]).filter((one) => one.agentId === agentId);
    assert.deepEqual(
      own.map((one) => [Number(one.start.slice(11, 13)), one.status, one.count, one.successRate]),
      hours.flatMap((hour) => [
        [hour, 'failed', 1, 0],
        [hour, 'success', 1, 1],
      ]),
    );
  }
});

test('versions have labels, keys have ids', async () => {
  const agent = await addAgent(service);
  const { key, id, apiKeyId } = await service.key({ agentIds: [agent.agentId] });
  const { rows } = await sql<{ id: string }>`
    select prompt_version_id as id from agents where id = ${agent.id}`.execute(service.db);
  const promptVersionId = rows[0]?.id ?? '';
  await insertStatistics(service.db, [
    tally({ agentId: agent.id, executedAtMs: at, apiKeyId: id, promptVersionId }),
    tally({ agentId: agent.id, executedAtMs: at, apiKeyId: null }),
  ]);
  const { buckets } = await statistics('&groupBy=version,key', { key });
  assert.deepEqual(
    buckets.map((one: Bucket) => [one.promptVersionLabel, one.apiKeyId]),
    [
      [null, null],
      ['v1', apiKeyId],
    ],
  );
  assert.equal(buckets[1].promptVersionId, agent.promptVersionId);
});

test('records before the retention limit are gone, but their counts remain', async () => {
  const agent = await agentWith(7);
  await sql`update history_floor set at = '2026-04-01Z'`.execute(service.db);
  const { key } = await service.key({ agentIds: [agent.agentId] });
  for (const query of ['', '&groupBy=model', '&level=all&timeZone=Asia/Kathmandu']) {
    const { buckets } = await statistics(query, { key });
    assert.deepEqual([buckets[0].count, buckets[0].recorded], [7, 0]);
  }
  await sql`update history_floor set at = 'epoch'`.execute(service.db);
  const { buckets } = await statistics('', { key });
  assert.deepEqual([buckets[0].count, buckets[0].recorded], [7, 7]);
});

test('model, key, and user or tag filter together with agents', async () => {
  const [one, two] = [await addAgent(service), await addAgent(service)];
  const [{ id, apiKeyId }, other] = [await service.key(), await service.key()];
  const labels = { user: 'ada', session: null, tags: ['red', 'blue'], metadata: null };
  const wanted = { agentId: one.id, executedAtMs: at, model: 'cueline/a', apiKeyId: id, labels };
  await insertStatistics(service.db, [
    ...Array.from({ length: 3 }, () => tally(wanted)),
    tally({ ...wanted, agentId: two.id }),
    tally({ ...wanted, model: 'cueline/b' }),
    tally({ ...wanted, apiKeyId: other.id }),
    tally({ ...wanted, labels: { ...labels, user: 'bob', tags: [] } }),
  ]);
  const both = [one, two];
  const key = `&apiKeyId=${apiKeyId}`;
  for (const [query, expected] of [
    ['', [6, 1]],
    ['&model=cueline/a', [5, 1]],
    [key, [5, 1]],
    ['&user=ada', [5, 1]],
    ['&tag=blue', [5, 1]],
    [`&model=cueline/a${key}&user=ada`, [3, 1]],
    [`&model=cueline/a${key}&tag=red&agentIds=${one.agentId}`, [3, 0]],
    ['&user=nobody', [0, 0]],
    ['&apiKeyId=key_unknown', [0, 0]],
  ] as const) {
    assert.deepEqual(await counts(both, query), expected, query);
  }
  const path = `/api/v1/agents/${one.agentId}/statistics?${range}&level=all&groupBy=model`;
  const { body } = await service.call('GET', `${path}${key}&user=ada`, { user: service.ownerId });
  const models = (body.buckets as Bucket[]).map(({ model, count }) => [model, count]);
  assert.deepEqual(models, [
    ['cueline/a', 3],
    ['cueline/b', 1],
  ]);
  for (const query of ['user=ada&groupBy=tag', 'tag=red&groupBy=user', 'model=x&level=minute']) {
    const { status } = await service.call('GET', `/api/v1/statistics?${query}`, {
      user: service.ownerId,
    });
    assert.equal(status, 400, query);
  }
});
