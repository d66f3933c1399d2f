import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { countHistory, dayMs, putRecords, queueExecutions } from '../../../../harness/records.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService({ config: { listPerMinute: 10_000 } });
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);
const startMs = Date.UTC(2026, 9, 1);
const ids = await putRecords(
  service.db,
  Array.from({ length: 6 }, (_, day) => ({
    ...{ workspaceId: service.workspaceId, agentId: agent.id },
    atMs: startMs + day * dayMs,
  })),
);
// Two costs are equal, and each figure has another order.
const costs = [0.2, 0.5, 0.1, 0.5, 0.4, 0.30000001];
const latencies = [5, 40, 30, 20, 60, 10];
const tokens = [6, 1, 4, 3, 5, 2];
await sql`
  update executions e set cost_usd = v.cost, latency_ms = v.latency, input_tokens = v.tokens, output_tokens = 0,
    end_user = 'ann'
  from unnest(${ids}::uuid[], ${costs}::numeric[], ${latencies}::int[], ${tokens}::int[]) as v (id, cost, latency, tokens)
  where e.id = v.id`.execute(service.db);
await sql`update executions set workspace_id = ${service.workspaceId} where id = any(${ids}::uuid[])`.execute(
  service.db,
);
await countHistory(service.db);

async function list(query: string) {
  const { status, body } = await service.call('GET', `${agent.path}/executions?${query}`, { key });
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

/** The days of the records. */
const days = (body: { executions: { executedAt: string }[] }) =>
  body.executions.map(({ executedAt }) => (Date.parse(executedAt) - startMs) / dayMs);

const orders: Record<string, number[]> = {
  executedAt: [0, 1, 2, 3, 4, 5],
  '-executedAt': [5, 4, 3, 2, 1, 0],
  costUSD: [2, 0, 5, 4, 1, 3],
  '-costUSD': [3, 1, 4, 5, 0, 2],
  latencyMs: [0, 5, 3, 2, 1, 4],
  '-latencyMs': [4, 1, 2, 3, 5, 0],
  tokensUsed: [1, 5, 3, 2, 4, 0],
  '-tokensUsed': [0, 4, 2, 3, 5, 1],
};

for (const [sort, expected] of Object.entries(orders)) {
  test(`sort=${sort}, by offset and by cursor`, async () => {
    for (const filter of ['', '&user=ann', '&variables.customer=c1', '&omit=bodies']) {
      assert.deepEqual(days(await list(`sort=${sort}${filter}`)), expected, filter);
      assert.deepEqual(
        days(await list(`sort=${sort}${filter}&offset=2&limit=3`)),
        expected.slice(2, 5),
      );
      const found: number[] = [];
      for (let cursor = ''; ; ) {
        const page = await list(`sort=${sort}${filter}&limit=2${cursor && `&cursor=${cursor}`}`);
        found.push(...days(page));
        assert.equal(page.sortedOver, undefined);
        assert.equal(page.pagination.hasMore, page.nextCursor !== undefined);
        if (page.nextCursor === undefined) break;
        cursor = page.nextCursor;
      }
      assert.deepEqual(found, expected, filter);
    }
  });
}

test('an execution that is newer than the first page does not move the others', async () => {
  const other = await addAgent(service);
  const put = async (day: number, cost: number) => {
    const [id] = await putRecords(service.db, [
      { workspaceId: service.workspaceId, agentId: other.id, atMs: startMs + day * dayMs },
    ]);
    await sql`update executions set cost_usd = ${cost} where id = ${id}`.execute(service.db);
    await countHistory(service.db);
  };
  const page = async (cursor?: string) =>
    (
      await service.call(
        'GET',
        `${other.path}/executions?sort=-costUSD&limit=1${cursor ? `&cursor=${cursor}` : ''}`,
        { key },
      )
    ).body;
  await put(0, 1);
  await put(1, 2);
  const first = await page();
  assert.deepEqual(days(first), [1]);
  await put(2, 1.5);
  const second = await page(first.nextCursor);
  assert.deepEqual(days(second), [0]);
  assert.equal(second.nextCursor, undefined);
});

test('executions that have not ended come last in both directions', async () => {
  const other = await addAgent(service);
  const own = { workspaceId: service.workspaceId, agentId: other.id };
  await putRecords(service.db, [{ ...own, atMs: startMs }]);
  await countHistory(service.db);
  await queueExecutions(
    service.db,
    sql`
      select uuidv7() as id, ${own.workspaceId}::uuid as workspace_id, ${own.agentId}::uuid as agent_id, 1 as tag,
        now() + interval '1 day' as available_at`,
    ['available_at'],
  );
  for (const sort of ['costUSD', '-costUSD', 'latencyMs', '-tokensUsed']) {
    const path = `${other.path}/executions?sort=${sort}&include=processing`;
    const { body } = await service.call('GET', path, { key });
    assert.deepEqual(
      body.executions.map(({ status }: { status: string }) => status),
      ['success', 'processing'],
      sort,
    );
    const [first] = (await service.call('GET', `${path}&limit=1`, { key })).body.executions;
    assert.equal(first.status, 'success');
  }
});

test('totals are those of all matches, whatever the page', async () => {
  const sum = { executions: 6, costUSD: 2.00000001, costKnown: true, tokensUsed: 21 };
  for (const query of [
    '',
    'sort=costUSD',
    'user=ann',
    'variables.customer=c1',
    'limit=1&offset=5',
  ]) {
    const { totals } = await list(`totals=true&${query}`);
    const { p50Ms, p95Ms, ...rest } = totals;
    assert.deepEqual(rest, { ...sum, percentilesAreApproximate: true }, query);
    assert.ok(p50Ms >= 18 && p50Ms <= 22, `${p50Ms}`);
    assert.ok(p95Ms >= 54 && p95Ms <= 66, `${p95Ms}`);
  }
  const none = await list('totals=true&status=failed');
  assert.deepEqual(none.totals, {
    ...{ executions: 0, costUSD: 0, costKnown: true, tokensUsed: 0 },
    ...{ p50Ms: null, p95Ms: null, percentilesAreApproximate: true },
  });
  assert.equal((await list('')).totals, undefined);
  const later = await list(`totals=true&startDate=2026-10-03&endDate=2026-10-04`);
  assert.equal(later.totals.costUSD, 0.6);
});

test('a cursor belongs to its order', async () => {
  const { nextCursor } = await list('sort=-costUSD&limit=1');
  for (const query of [
    `sort=costUSD&cursor=${nextCursor}`,
    `cursor=${nextCursor}`,
    `sort=-costUSD&offset=1&cursor=${nextCursor}`,
    'sort=-costUSD&cursor=x',
    'sort=cost',
    'sort=',
    'totals=1',
  ]) {
    const { status } = await service.call('GET', `${agent.path}/executions?${query}`, { key });
    assert.equal(status, 400, query);
  }
});
