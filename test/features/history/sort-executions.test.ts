import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { openTestDatabase } from '../../../harness/database.ts';
import { freshId } from '../../../harness/fresh-id.ts';
import { firstHundred, makeHistory, type RandomHistory } from '../../../harness/history.ts';
import { historyRequests } from '../../../harness/history-requests.ts';
import { type SentStatement, silentDb } from '../../../harness/silent-db.ts';
import { readSort, type SortOrder, sorts } from '../../../src/core/history/sort-order.ts';
import { latencyBin } from '../../../src/core/history/statistics.ts';
import type { Trx } from '../../../src/db/database.ts';
import { type Sql, sql } from '../../../src/db/sql.ts';
import { countRecords } from '../../../src/features/history/statements/history-counts.ts';
import { matchesFilter } from '../../../src/features/history/statements/history-filter.ts';
import {
  sortRecords,
  sumRecords,
} from '../../../src/features/history/statements/sorted-records.ts';
import type { ListRequest } from '../../../src/features/history/verbs/history-page.ts';
import { listExecutions } from '../../../src/features/history/verbs/list-executions.ts';
import { sortExecutions } from '../../../src/features/history/verbs/sort-executions.ts';
import { sumHistory } from '../../../src/features/history/verbs/sum-history.ts';

const { db, close } = await openTestDatabase(2);
let made: RandomHistory;
before(async () => {
  made = await makeHistory(db, 8_000, { seed: Date.now() % 1_000 });
  // As in a real history, a refusal costs nothing.
  for (const table of ['executions', 'statistics', 'breakdown']) {
    await sql`
      update ${sql.table(table)} set cost_usd = 0, input_tokens = 0, output_tokens = 0
      where status in ('rate_limited', 'unauthorized')`.execute(db);
  }
});
after(close);

const runs = 40;
const patient = {
  ...{ pageMs: Number.POSITIVE_INFINITY, countMs: Number.POSITIVE_INFINITY },
  ...{ countedMax: 0, batchSize: 3_000, sortedMax: 100_000 },
};

/** SQL: everything that a request asks for. */
function plain({ range, agentIds, includeProcessing, ...filter }: ListRequest): Sql {
  return sql`
    ${includeProcessing ? sql`all_executions` : sql`executions`} e where e.agent_id = any(${agentIds}::uuid[])
      and e.id >= ${range.fromId}::uuid and e.id < ${range.toId}::uuid
      and ${matchesFilter({ ...filter, agentIds })}`;
}

const columns = {
  executedAt: sql`e.id`,
  costUSD: sql`case when e.status <> 'processing' then e.cost_usd end`,
  latencyMs: sql`case when e.status <> 'processing' then e.latency_ms end`,
  tokensUsed: sql`case when e.status <> 'processing' then e.input_tokens + e.output_tokens end`,
};

async function plainIds(request: ListRequest, { by, isDescending }: SortOrder): Promise<string[]> {
  const direction = sql.raw(isDescending ? 'desc' : 'asc');
  const { rows } = await sql<{ id: string }>`
    select e.id from ${plain(request)} order by ${columns[by]} ${direction} nulls last, e.id ${direction}
    offset ${request.offset} limit ${request.limit}`.execute(db);
  return rows.map(({ id }) => id);
}

const anyOrder = fc.constantFrom(...sorts.map(readSort));

test('sorted pages equal those of a plain sort, by offset and by cursor', async () => {
  await fc.assert(
    fc.asyncProperty(historyRequests(made), anyOrder, async (random, order) => {
      const request = { ...random, after: null };
      const page = await sortExecutions(db, { ...request, order, after: null }, patient);
      const ids = page.rows.map(({ id }) => id);
      assert.deepEqual(ids, await plainIds(request, order));
      assert.equal(page.sortedOver, null);
      const last = page.places.at(-1);
      if (last === undefined) return;
      const next = await sortExecutions(db, { ...request, offset: 0, order, after: last }, patient);
      const offset = request.offset + ids.length;
      assert.deepEqual(
        next.rows.map(({ id }) => id),
        await plainIds({ ...request, offset }, order),
      );
    }),
    { numRuns: runs },
  );
});

test('the oldest first equal a plain sort, by offset and by cursor', async () => {
  const order = readSort('executedAt');
  const requests = historyRequests(made).map((one) => ({ ...one, contents: null, after: null }));
  await fc.assert(
    fc.asyncProperty(requests, async (request) => {
      const list = { ...request, isAscending: true };
      const { rows, total } = await listExecutions(db, list);
      const ids = rows.map(({ id }) => id);
      assert.deepEqual(ids, await plainIds(request, order));
      assert.equal(total, (await listExecutions(db, request)).total);
      const last = ids.at(-1) ?? null;
      if (last === null) return;
      const next = await listExecutions(db, { ...list, offset: 0, after: last });
      assert.deepEqual(
        next.rows.map(({ id }) => id),
        await plainIds({ ...request, offset: request.offset + ids.length }, order),
      );
    }),
    { numRuns: runs },
  );
});

test('totals equal those of a plain sum, also where records are gone', async () => {
  const compare = async (request: ListRequest) => {
    const { isComplete, latency, ...sums } = await sumHistory(db, request, patient);
    assert.ok(isComplete);
    const { rows } = await sql<typeof sums>`
      select count(*)::int as executions, coalesce(sum(cost_usd), 0)::text as cost_usd,
        (count(*) filter (where not cost_known))::int as cost_unknown,
        coalesce(sum(input_tokens + output_tokens), 0)::int as tokens
      from ${plain({ ...request, includeProcessing: false })}`.execute(db);
    const [expected] = rows;
    assert.ok(expected);
    assert.equal(Number(sums.costUsd), Number(expected.costUsd));
    assert.deepEqual({ ...sums, costUsd: '' }, { ...expected, costUsd: '' });
    const { rows: latencies } = await sql<{ latencyMs: number }>`
      select latency_ms from ${plain({ ...request, includeProcessing: false })} and e.started_at is not null`.execute(
      db,
    );
    const bins: number[] = [];
    for (const { latencyMs } of latencies) {
      const bin = latencyBin(latencyMs);
      while (bins.length <= bin) bins.push(0);
      bins[bin] = (bins[bin] ?? 0) + 1;
    }
    const end = latency.findLastIndex((n) => n > 0) + 1;
    assert.deepEqual(latency.slice(0, end), bins);
  };
  await fc.assert(fc.asyncProperty(historyRequests(made), compare), { numRuns: runs });
  await sql`
    with gone as (delete from executions where substr(id::text, 36) = '3' or id < (
        select id from executions order by id offset 400 limit 1) returning agent_id, executed_at, status, source)
    update statistics s set recorded = recorded - (
      select count(*) from gone g where g.agent_id = s.agent_id and g.status = s.status and g.source = s.source
        and date_trunc(s.level, g.executed_at, 'UTC') = s.bucket)`.execute(db);
  await sql`
    update breakdown b set recorded = (
      select count(*) from executions e where e.agent_id = b.agent_id and e.status = b.status and e.source = b.source
        and e.prompt_version_id = b.prompt_version_id and e.model = b.model
        and e.api_key_id is not distinct from b.api_key_id and e.error_code is not distinct from b.error_code
        and e.executed_at >= b.bucket and e.executed_at < b.bucket + case b.level when 'day' then interval '1 day'
          else interval '15 minutes' end)`.execute(db);
  await fc.assert(fc.asyncProperty(historyRequests(made), compare), { numRuns: runs });
});

test('of more matches than are sorted, the newest are, and the page says so', async () => {
  const request = { ...firstHundred(made.agentIds), order: readSort('-costUSD'), after: null };
  const anyLatency = {
    ...{ latencyMsMin: 0, latencyMsMax: null, costUsdMin: null, costUsdMax: null },
    ...{ providerRequestId: null, variables: [], labels: [], words: null },
  };
  const ofModel = { ...request, model: made.models.slice(0, 1) };
  for (const list of [request, ofModel, { ...request, contents: anyLatency }]) {
    const limited = { ...patient, sortedMax: 500 };
    const { rows, total, totalIsLowerBound, sortedOver } = await sortExecutions(db, list, limited);
    assert.equal(sortedOver, 500);
    assert.equal(totalIsLowerBound, list.contents !== null);
    assert.equal(total, list.contents === null ? (await listExecutions(db, list)).total : 500);
    const newest = await plainIds({ ...list, limit: 500 }, readSort('-executedAt'));
    const { rows: expected } = await sql<{ id: string }>`
      select id from executions where id = any(${newest}::uuid[])
      order by cost_usd desc, id desc limit 100`.execute(db);
    assert.deepEqual(
      rows.map(({ id }) => id),
      expected.map(({ id }) => id),
    );
    if (list.contents === null) continue;
    const figures = await sumHistory(db, list, limited);
    assert.deepEqual([figures.executions, figures.isComplete], [500, false]);
  }
  const hurried = { ...patient, pageMs: 0, batchSize: 300 };
  const page = await sortExecutions(db, { ...request, contents: anyLatency }, hurried);
  assert.equal(page.sortedOver, 300);
});

test('the index picks the records of a status before they are read', async () => {
  const request = { ...firstHundred(made.agentIds), status: ['failed' as const] };
  const page = { order: readSort('-costUSD'), after: null, take: 20 };
  const ranges = [request.range];
  const picked = /Index Only Scan using executions_\w+_agent_id_id_status_source_idx/;
  const reads: readonly ((trx: Trx) => Promise<unknown>)[] = [
    (trx) => sortRecords(trx, request, ranges, page),
    (trx) => sumRecords(trx, request, ranges),
    (trx) => countRecords(trx, request, ranges),
  ];
  for (const read of reads) {
    const sent: SentStatement[] = [];
    await silentDb((statement) => sent.push(statement)).transaction(read);
    const [{ text, values } = { text: '', values: [] }] = sent;
    const trx = await db.begin('read committed');
    try {
      // Of so few records other plans are as cheap. Without the key, only the index of an agent has ids.
      await sql`alter table executions drop constraint executions_pkey`.execute(trx);
      await sql`set local enable_seqscan = off`.execute(trx);
      await sql`set local enable_bitmapscan = off`.execute(trx);
      const { rows } = await trx.run({ text: `explain ${text}`, values });
      assert.match(JSON.stringify(rows), picked);
    } finally {
      await trx.rollback();
    }
  }
});

test('the statistics of a thousand agents are added up', async () => {
  const [agents, days] = [1_100, 92];
  const agentIds = Array.from({ length: agents }, () => freshId());
  await sql`
    insert into statistics (agent_id, level, bucket, status, source, occurred, recorded, input_tokens, output_tokens,
      cost_usd, latency)
    select agent_id, 'day', timestamptz '2025-01-01Z' + day * interval '1 day', 'success', 'api', 2, 2, 3, 4, 0.5, '{1,1}'
    from unnest(${agentIds}::uuid[]) as agent_id, generate_series(1, ${days}::int) as day`.execute(
    db,
  );
  const request = { ...firstHundred(agentIds), after: null };
  const { isComplete, latency, ...sums } = await sumHistory(db, request, patient);
  const rows = agents * days;
  assert.ok(isComplete);
  assert.deepEqual(
    { ...sums, costUsd: Number(sums.costUsd) },
    {
      ...{ executions: 2 * rows, costUsd: 0.5 * rows, costUnknown: 0, tokens: 7 * rows },
    },
  );
  assert.deepEqual(latency, [rows, rows]);
});
