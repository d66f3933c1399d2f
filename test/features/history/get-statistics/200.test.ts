import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, run, type TestAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { latencyBin } from '../../../../src/core/history/statistics.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const user = service.ownerId;

async function statistics(agent: TestAgent, query = '', options: object = { user }) {
  const { status, body } = await service.call('GET', `${agent.path}/statistics${query}`, options);
  assert.equal(status, 200);
  return body;
}

/** A row of the table, with latency counts by milliseconds. */
async function addBucket(
  agent: TestAgent,
  level: string,
  start: string,
  more: { count?: number; status?: string; source?: string; latencies?: number[]; cost?: string },
): Promise<void> {
  const { count = 1, status = 'success', source = 'api', latencies = [], cost = '0' } = more;
  const bins: number[] = Array.from({ length: 96 }, () => 0);
  for (const ms of latencies) bins[latencyBin(ms)] = (bins[latencyBin(ms)] ?? 0) + 1;
  await sql`
    insert into statistics (agent_id, level, bucket, status, source, occurred, recorded, input_tokens,
      output_tokens, cost_usd, cost_unknown, latency)
    values (${agent.id}, ${level}, ${start}, ${status}::execution_status, ${source}::execution_source, ${count},
      ${count - 1}, 30, 20, ${cost}, 4, ${bins}::bigint[])`.execute(service.db);
}

test('executions and refusals are counted by status and source at every level', async () => {
  const agent = await addAgent(service);
  const { key } = await service.key();
  const full = await service.key({ rateLimits: { requestsPerDay: 0 } });
  service.models.script(
    { cost: { usd: '0.1', known: true } },
    { cost: { usd: '0.2', known: true } },
  );
  await run(service, agent, key);
  await run(service, agent, key);
  const body = { variables: { name: 'x' } };
  await service.call('POST', `${agent.path}/execute`, { key: full.key, body });

  for (const level of ['minute', 'hour', 'day']) {
    const response = await statistics(agent, `?level=${level}`);
    assert.deepEqual([response.agentId, response.level], [agent.agentId, level]);
    const sums: Record<string, number[]> = {};
    for (const one of response.buckets) {
      assert.ok(response.startDate <= one.start && one.start < response.endDate);
      assert.equal(one.source, 'api');
      assert.equal(one.latencyMs === null, one.status === 'rate_limited');
      // A minute may begin between two requests, which creates two buckets.
      const { count, recorded, inputTokens, outputTokens } = one;
      const sum = sums[one.status] ?? [0, 0, 0, 0];
      sums[one.status] = [count, recorded, inputTokens, outputTokens].map(
        (n, i) => n + (sum[i] ?? 0),
      );
    }
    assert.deepEqual(sums.rate_limited, [1, 1, 0, 0]);
    assert.deepEqual(sums.success, [2, 2, 20, 10]);
  }
  const { rows } = await sql<{ cost: string }>`
    select sum(cost_usd)::text as cost from statistics
    where agent_id = ${agent.id} and level = 'day'`.execute(service.db);
  // As floats the sum would be 0.30000000000000004.
  assert.equal(Number(rows[0]?.cost), 0.3);
  assert.match(rows[0]?.cost ?? '', /^0\.30*$/);
});

test('executions of unknown cost are counted separately, and remain after their records are deleted', async () => {
  const agent = await addAgent(service);
  const { key } = await service.key();
  service.models.script(
    { cost: { usd: '0.5', known: true } },
    { cost: { usd: '0', known: false } },
    { cost: { usd: '0.25', known: false } },
  );
  await run(service, agent, key);
  const unknown = await run(service, agent, key);
  await run(service, agent, key);
  const assertCounted = async (recorded: number) => {
    // For both tables.
    for (const by of ['status', 'model']) {
      const { buckets } = await statistics(agent, `?level=all&groupBy=${by}`);
      const [bucket, ...more] = buckets;
      assert.deepEqual(more, []);
      assert.deepEqual(
        [bucket.count, bucket.recorded, bucket.costUSD, bucket.costUnknown],
        [3, recorded, 0.75, 2],
      );
    }
  };
  await assertCounted(3);
  const path = `${agent.path}/executions/${unknown.executionId}`;
  assert.equal((await service.call('DELETE', path, { user })).status, 204);
  await assertCounted(2);
});

test('a bucket shows counts, tokens, cost and percentiles', async () => {
  const agent = await addAgent(service);
  const latencies = [
    ...Array.from({ length: 94 }, () => 100),
    1_000,
    1_000,
    1_000,
    1_000,
    1_000,
    9_000,
  ];
  const start = '2026-03-04T05:00:00.000Z';
  await addBucket(agent, 'hour', start, { count: 100, latencies, cost: '12.3456789' });
  const { buckets } = await statistics(agent, `?level=hour&startDate=${start}&endDate=${start}`);
  const [{ latencyMs, ...bucket }] = buckets;
  assert.deepEqual(bucket, {
    ...{ start, end: '2026-03-04T05:59:59.999Z', status: 'success', source: 'api' },
    ...{ count: 100, recorded: 99, successRate: 1 },
    ...{ inputTokens: 30, outputTokens: 20, costUSD: 12.3456789, costUnknown: 4 },
  });
  for (const [name, exact] of [
    ['p50', 100],
    ['p95', 1_000],
    ['p99', 1_000],
  ] as const) {
    assert.ok(Math.abs(latencyMs[name] - exact) <= exact * 0.1, `${name}: ${latencyMs[name]}`);
  }
});

test('returns whole steps, oldest first; both dates are inclusive', async () => {
  const agent = await addAgent(service);
  for (const start of ['09:00', '10:00', '11:00', '12:00', '13:00']) {
    await addBucket(agent, 'hour', `2026-03-04T${start}:00.000Z`, {});
  }
  await addBucket(agent, 'hour', '2026-03-04T11:00:00.000Z', {
    status: 'failed',
    source: 'dashboard',
  });
  await addBucket(agent, 'day', '2026-03-04T00:00:00.000Z', {});
  const query = '?level=hour&startDate=2026-03-04T10:59:59Z&endDate=2026-03-04T12:00:00Z';
  const response = await statistics(agent, query);
  assert.equal(response.startDate, '2026-03-04T10:00:00.000Z');
  assert.equal(response.endDate, '2026-03-04T12:59:59.999Z');
  assert.deepEqual(
    response.buckets.map((one: { start: string; status: string }) => [
      one.start.slice(11, 13),
      one.status,
    ]),
    [
      ['10', 'success'],
      ['11', 'failed'],
      ['11', 'success'],
      ['12', 'success'],
    ],
  );
  // The returned dates select the same steps.
  const again = `?level=hour&startDate=${response.startDate}&endDate=${response.endDate}`;
  assert.deepEqual(await statistics(agent, again), response);
  const day = await statistics(agent, '?startDate=2026-03-04&endDate=2026-03-04');
  assert.deepEqual([day.level, day.endDate], ['day', '2026-03-04T23:59:59.999Z']);
  assert.equal(day.buckets.length, 1);
});

const hourMs = 3_600_000;
const spans = [
  ['minute', 60 * 60_000],
  ['hour', 48 * hourMs],
  ['day', 30 * 24 * hourMs],
] as const;
for (const [level, spanMs] of spans) {
  test(`level ${level}: without dates the last steps; with one date the steps up to the other end`, async () => {
    const agent = await addAgent(service);
    const lengthMs = ({ startDate, endDate }: { startDate: string; endDate: string }) =>
      Date.parse(endDate) + 1 - Date.parse(startDate);
    const plain = await statistics(agent, `?level=${level}`);
    assert.equal(lengthMs(plain), spanMs);
    const { rows } = await sql<{ within: boolean }>`
      select clock_timestamp() - ${plain.endDate}::timestamptz between -interval '1 day' and interval '1 minute'
        as within`.execute(service.db);
    assert.ok(rows[0]?.within);
    const end = level === 'minute' ? plain.startDate : '2026-03-04T23:59:59.999Z';
    const until = await statistics(agent, `?level=${level}&endDate=${end}`);
    assert.ok(until.startDate < end && end <= until.endDate);
    assert.equal(lengthMs(until), spanMs);
    const since = await statistics(agent, `?level=${level}&startDate=${plain.endDate}`);
    assert.ok(since.startDate <= plain.endDate && plain.endDate <= since.endDate);
    const future = await statistics(agent, `?level=${level}&startDate=2095-01-01`);
    assert.deepEqual([future.startDate, future.buckets], ['2095-01-01T00:00:00.000Z', []]);
  });
}

test('the maximum number of steps with all groups', async () => {
  const agent = await addAgent(service);
  await sql`
    insert into statistics (agent_id, level, bucket, status, source, occurred, recorded, input_tokens,
      output_tokens, cost_usd, latency)
    select ${agent.id}, 'hour', b, s::execution_status, o::execution_source, 1, 1, 0, 0, 0, '{}'
    from generate_series(timestamptz '2026-03-04T00:00Z', '2026-05-05T11:00Z', interval '1 hour') as b,
      unnest(array['success', 'failed', 'rate_limited', 'canceled', 'unauthorized']) as s,
      unnest(array['dashboard', 'api', 'workflow']) as o`.execute(service.db);
  const query = '?level=hour&startDate=2026-03-04T00:00Z&endDate=2026-05-05T11:59Z';
  assert.equal((await statistics(agent, query)).buckets.length, 1_500 * 15);
});

test('accessible to a viewer, to a key with read for its agents, and to allowed origins', async () => {
  const origin = 'https://app.example.com';
  const agent = await addAgent(service, { allowedOrigins: [origin] });
  await statistics(agent, '', { user: await service.member('viewer') });
  const { key } = await service.key({ agentIds: [agent.agentId], permissions: ['read'] });
  const headers = { origin };
  const response = await service.call('GET', `${agent.path}/statistics`, { key, headers });
  assert.equal(response.headers.get('access-control-allow-origin'), origin);
});
