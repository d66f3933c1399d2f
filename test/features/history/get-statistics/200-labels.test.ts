import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { insertStatistics, tally } from '../../../../harness/statistics.ts';
import { fromId } from '../../../../src/core/id.ts';
import type { Labels } from '../../../../src/core/labels.ts';
import { foldLabels } from '../../../../src/engine/complete/label-changes.ts';

const service = await startService({ role: 'api' });
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);
const other = await addAgent(service);
const agentId = fromId('agent', agent.agentId) ?? '';
const dayMs = 86_400_000;
const todayMs = Math.floor(Date.now() / dayMs) * dayMs;
const none: Labels = { user: null, session: null, tags: null, metadata: null };

function call(labels: Partial<Labels> | null, more: Partial<Parameters<typeof tally>[0]> = {}) {
  return tally({
    ...{ agentId, executedAtMs: todayMs - dayMs, costUsd: '0.25' },
    labels: labels && { ...none, ...labels },
    ...more,
  });
}

await insertStatistics(service.db, [
  call(null),
  call({ session: 's' }),
  call({ user: 'a', tags: ['x', 'y'], metadata: '{"plan":"pro","zone":"eu"}' }),
  call(
    { user: 'a', tags: ['x'], metadata: '{"plan":"free"}' },
    { status: 'failed', latencyMs: 9_000 },
  ),
  call({ user: 'b', tags: ['y'] }, { costKnown: false, latencyMs: null }),
  // Refused without a record: only counted.
  call({ user: 'c', tags: ['z'] }, { status: 'rate_limited', recorded: false, costUsd: '0' }),
  call({ user: 'b' }, { executedAtMs: todayMs - 3 * dayMs }),
]);

async function buckets(groupBy: string, more: Record<string, string> = {}, of = agent.path) {
  const startDate = new Date(todayMs - 5 * dayMs).toISOString();
  const query = new URLSearchParams({ groupBy, level: 'all', startDate, ...more });
  const { status, body } = await service.call('GET', `${of}/statistics?${query}`, { key });
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

type Bucket = Record<string, unknown> & { count: number };
const short = (all: readonly Bucket[], ...names: string[]) =>
  all.map((one) => [...names.map((name) => one[name]), one.count]);

async function check(): Promise<void> {
  const byUser = await buckets('user');
  assert.deepEqual(byUser.groupBy, ['user']);
  assert.deepEqual(short(byUser.buckets, 'user'), [
    ['a', 2],
    ['b', 2],
    [undefined, 3],
  ]);
  assert.deepEqual(short((await buckets('tag')).buckets, 'tag'), [
    ['x', 2],
    ['y', 2],
    [undefined, 4],
  ]);
  const byPlan = await buckets('metadata.plan');
  assert.deepEqual(byPlan.groupBy, ['metadata.plan']);
  assert.deepEqual(short(byPlan.buckets, 'metadata.plan'), [
    ['free', 1],
    ['pro', 1],
    [undefined, 5],
  ]);
  assert.deepEqual(short((await buckets('metadata.zone')).buckets, 'metadata.zone'), [
    ['eu', 1],
    [undefined, 6],
  ]);
  assert.deepEqual(short((await buckets('metadata.none')).buckets, 'metadata.none'), [
    [undefined, 7],
  ]);
}

test('groups by user, tag and metadata, before and after labels are folded', async () => {
  await check();
  while ((await foldLabels(service.db, 2)) > 0);
  await check();
});

test('a bucket has every figure of its calls, and the one without a value has the rest', async () => {
  const { buckets: all } = await buckets('user');
  const figures = all.map(({ start: _, end: __, user: ___, ...one }: Bucket) => one);
  const { latencyMs: ofA, ...a } = figures[0];
  assert.deepEqual(a, {
    ...{ count: 2, recorded: 2, successRate: 0.5, inputTokens: 20, outputTokens: 40 },
    ...{ costUSD: 0.5, costUnknown: 0 },
  });
  assert.ok(ofA.p50 < 150 && ofA.p99 > 8_000, JSON.stringify(ofA));
  const { latencyMs: rest, ...without } = figures[2];
  assert.deepEqual(without, {
    ...{ count: 3, recorded: 2, successRate: 1, inputTokens: 30, outputTokens: 60 },
    ...{ costUSD: 0.5, costUnknown: 0 },
  });
  assert.ok(rest.p99 < 150, JSON.stringify(rest));
});

test('combines with the other groupings and with intervals', async () => {
  const byStatus = await buckets('user,status');
  assert.deepEqual(short(byStatus.buckets, 'status', 'user'), [
    ['failed', 'a', 1],
    ['rate_limited', undefined, 1],
    ['success', 'a', 1],
    ['success', 'b', 2],
    ['success', undefined, 2],
  ]);
  const byDay = await buckets('user', { level: 'day' });
  assert.deepEqual(short(byDay.buckets, 'user'), [
    ['b', 1],
    ['a', 2],
    ['b', 1],
    [undefined, 3],
  ]);
  const inBerlin = await buckets('tag', { level: 'hour', timeZone: 'Asia/Kathmandu' });
  assert.equal(
    inBerlin.buckets.reduce((sum: number, one: Bucket) => sum + one.count, 0),
    8,
  );
  const workspace = await buckets('agent,user', {}, '/api/v1');
  assert.equal(
    workspace.buckets.reduce((sum: number, one: Bucket) => sum + one.count, 0),
    7,
  );
  assert.ok(workspace.buckets.every((one: Bucket) => one.agentId === agent.agentId));
});

test('the fifty largest values have a bucket, the rest share one', async () => {
  const ofOther = { agentId: fromId('agent', other.agentId) ?? '' };
  const calls = Array.from({ length: 53 }, (_, n) =>
    Array.from({ length: n < 3 ? 1 : 2 }, () => call({ user: `u${n}` }, ofOther)),
  ).flat();
  await insertStatistics(service.db, [...calls, call(null, ofOther)]);
  const { buckets: all } = await buckets('user', {}, other.path);
  assert.equal(all.length, 52);
  const rest = all.filter((one: Bucket) => one.other);
  assert.deepEqual(short(rest, 'user', 'other'), [[undefined, true, 3]]);
  const without = all.filter((one: Bucket) => !one.other && one.user === undefined);
  assert.deepEqual(short(without), [[1]]);
});

test('rejects two labels, and minutes by label', async () => {
  for (const query of [
    'groupBy=user,tag',
    'groupBy=metadata.a,metadata.b',
    'groupBy=user&level=minute',
    'groupBy=session',
  ]) {
    const { status } = await service.call('GET', `${agent.path}/statistics?${query}`, { key });
    assert.equal(status, 400, query);
  }
});
