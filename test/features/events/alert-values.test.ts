import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { scansOfQuery } from '../../../harness/plan.ts';
import { putRecords, queueExecutions, type RecordOptions } from '../../../harness/records.ts';
import { startService } from '../../../harness/service.ts';
import { insertStatistics, tally } from '../../../harness/statistics.ts';
import { uuid7 } from '../../../src/core/id.ts';
import type { Db } from '../../../src/db/database.ts';
import { sql } from '../../../src/db/sql.ts';
import { foldLabels } from '../../../src/engine/complete/label-changes.ts';
import {
  readCallSums,
  readMinutes,
  readQueueAge,
  readWaits,
} from '../../../src/features/events/statements/alert-values.ts';
import { rollUpHours } from '../../../src/features/history/statements/rollup.ts';

const service = await startService({ role: 'api' });
after(service.close);
const { db, workspaceId } = service;
const agents: string[] = [];
const other = await service.workspace();

const [minuteMs, hourMs] = [60_000, 3_600_000];
/** Old enough to be rolled up, and not at a boundary of anything. */
const startMs = Math.floor(Date.now() / hourMs) * hourMs - 80 * hourMs;
/** Every seventh minute, with a tag in every other call. */
const calls = Array.from({ length: 60 }, (_, n) => ({
  agent: n % 3,
  atMs: startMs + n * 7 * minuteMs + 59_999,
  status: (['success', 'failed', 'canceled'] as const)[n % 5] ?? 'success',
  tags: n % 2 === 0 ? ['beta', 'x'] : n % 3 === 0 ? ['alpha'] : null,
  costUsd: `0.${n + 1}`,
  costKnown: n % 4 !== 0,
  latencyMs: n % 6 === 0 ? null : n * 100,
  source: n % 8 === 7 ? ('dashboard_playground' as const) : ('api' as const),
}));

before(async () => {
  for (let n = 0; n < 2; n++) agents.push((await addAgent(service)).id);
  agents.push((await addAgent(service, { workspaceId: other.workspaceId })).id);
  for (const { agent, atMs, status, tags, costUsd, costKnown, latencyMs, source } of calls) {
    const agentId = agents[agent] ?? '';
    const labels = tags && { user: null, session: null, tags, metadata: null };
    const ended = { status, costUsd, costKnown, latencyMs, source };
    await insertStatistics(db, [tally({ agentId, executedAtMs: atMs, labels, ...ended })]);
    await sql`
      insert into executions (id, workspace_id, agent_id, prompt_version_id, executed_at, started_at, completed_at,
        cost_usd, cost_known, latency_ms, status, source, agent_name, prompt_version_label, model, error_code, error, tags)
      values (${uuid7(atMs)}, ${agent === 2 ? other.workspaceId : workspaceId}, ${agentId}, ${agentId},
        to_timestamp(${atMs} / 1000.0), case when ${latencyMs !== null} then to_timestamp(${atMs} / 1000.0) end,
        clock_timestamp(), ${costUsd}, ${costKnown}, ${latencyMs ?? 0}, ${status}, ${source}, 'a', 'v1', 'cueline/echo',
        ${status === 'success' ? null : 'CANCELED'}, ${status === 'success' ? null : 'x'}, ${tags}::text[])`.execute(
      db,
    );
  }
});

interface Scope {
  readonly metric: 'failureRate' | 'costUSD';
  readonly agentIds: readonly string[] | null;
  readonly tag: string | null;
}

function expected({ metric, agentIds, tag }: Scope, fromMs: number, toMs: number) {
  const found = calls.filter(
    ({ agent, atMs, tags, source }) =>
      agent !== 2 &&
      (metric === 'costUSD' || source === 'api') &&
      (agentIds ?? agents).includes(agents[agent] ?? '') &&
      (tag === null || tags?.includes(tag)) &&
      atMs >= fromMs &&
      atMs < toMs,
  );
  return {
    occurred: found.length,
    succeeded: found.filter(({ status }) => status === 'success').length,
    failed: found.filter(({ status }) => status === 'failed').length,
    costUnknown: found.filter(({ costKnown }) => !costKnown).length,
    costUsd: found.reduce((sum, { costUsd }) => sum + Number(costUsd), 0).toFixed(6),
    measured: found.filter(({ latencyMs }) => latencyMs !== null).length,
  };
}

async function read(scope: Scope, fromMs: number, toMs: number) {
  const sums = await readCallSums(db, { workspaceId, ...scope }, { fromMs, toMs });
  const { occurred, succeeded, failed, costUnknown, costUsd, latency } = sums;
  const measured = latency.reduce((sum, n) => sum + n, 0);
  const cost = Number(costUsd).toFixed(6);
  return { occurred, succeeded, failed, costUnknown, costUsd: cost, measured };
}

const windows = [
  [0, 420],
  [1, 2],
  [7, 8],
  [3, 19],
  [15, 30],
  [14, 46],
  [52, 61],
  [59, 300],
  [421, 430],
] as const;

async function compare() {
  for (const [from, to] of windows) {
    for (const scope of [
      { metric: 'failureRate', agentIds: null, tag: null },
      { metric: 'costUSD', agentIds: null, tag: null },
      { metric: 'failureRate', agentIds: [agents[1] ?? ''], tag: null },
      { metric: 'failureRate', agentIds: null, tag: 'beta' },
      { metric: 'costUSD', agentIds: null, tag: 'beta' },
      { metric: 'costUSD', agentIds: [agents[0] ?? '', agents[2] ?? ''], tag: 'alpha' },
      { metric: 'failureRate', agentIds: [agents[0] ?? '', agents[2] ?? ''], tag: 'alpha' },
      { metric: 'failureRate', agentIds: null, tag: 'none' },
    ] as const) {
      const bounds = [startMs + from * minuteMs, startMs + to * minuteMs] as const;
      const what = JSON.stringify({ from, to, scope });
      assert.deepEqual(await read(scope, ...bounds), expected(scope, ...bounds), what);
    }
  }
}

test('a window counts exactly the calls of its minutes, of its agents and with its tag', async () => {
  await compare();
  await foldLabels(db, 1_000);
  await compare();
});

/** Records are read for more than their status. */
const readsMore = (scope: { readonly metric: string } | undefined) => scope?.metric === 'costUSD';

test('minutes are exact, also once they are rolled up', async () => {
  const bounds = { fromMs: startMs, toMs: startMs + 8 * hourMs };
  const scopes = [null, 'beta'].flatMap((tag) =>
    (['failureRate', 'costUSD'] as const).map((metric) => ({
      workspaceId,
      metric,
      agentIds: null,
      tag,
    })),
  );
  const before = await Promise.all(scopes.map((scope) => readMinutes(db, scope, bounds)));
  for (const [index, scope] of scopes.entries()) {
    const minutes = new Map(before[index]?.map((one) => [one.startMs, one]));
    for (let atMs = bounds.fromMs; atMs < bounds.toMs; atMs += minuteMs) {
      const { occurred, failed, measured } = expected(scope, atMs, atMs + minuteMs);
      const found = minutes.get(atMs);
      assert.deepEqual([found?.occurred ?? 0, found?.failed ?? 0], [occurred, failed]);
      const latencies = found?.latency.reduce((a, n) => a + n, 0) ?? 0;
      if (readsMore(scope)) assert.equal(latencies, measured);
    }
  }
  for (const agentId of agents) await rollUpHours(db, { agentId, from: null, limit: 100 });
  const { rows } = await sql`select from statistics where level = 'minute'`.execute(db);
  assert.equal(rows.length, 0);
  const values = (all: typeof before) =>
    all.map((minutes, index) =>
      minutes?.map(({ startMs: at, occurred, failed, costUsd, latency }) => [
        ...[at, occurred, failed],
        ...(readsMore(scopes[index])
          ? [Number(costUsd), [...latency.entries()].filter(([, n]) => n > 0)]
          : []),
      ]),
    );
  const rolledUp = await Promise.all(scopes.map((scope) => readMinutes(db, scope, bounds)));
  assert.deepEqual(values(rolledUp), values(before));
});

test('the preview looks only at the hours of agents that have calls', async () => {
  const own = await service.workspace();
  const scope = { workspaceId: own.workspaceId, metric: 'failureRate', agentIds: null } as const;
  const bounds = { fromMs: startMs, toMs: startMs + 48 * hourMs };
  const hoursOf = [[], [], [3], [3, 4, 5], [7, 9]];
  for (const hours of hoursOf) {
    const agentId = (await addAgent(service, { workspaceId: own.workspaceId })).id;
    const times = hours.map((hour) => ({ agentId, executedAtMs: startMs + hour * hourMs }));
    await insertStatistics(db, times.map(tally));
  }
  await sql`delete from statistics where level = 'minute'`.execute(db);
  // Hours one after the other are read at once.
  for (const [tag, scans] of [[null, 4] as const, ['beta', 0] as const]) {
    const read = (one: Db) => readMinutes(one, { ...scope, tag }, bounds);
    assert.equal(await scansOfQuery(db, 'executions', read), scans);
  }
});

test('the queue age is that of the oldest execution that waits for its start', async () => {
  const scope = { workspaceId, agentIds: null, tag: null };
  assert.equal(await readQueueAge(db, scope), 0);
  const queue = async (agentId: string, workspace: string) => {
    const id = uuid7(Date.now());
    await queueExecutions(
      db,
      sql`select ${id}::uuid as id, ${workspace}::uuid as workspace_id, ${agentId}::uuid as agent_id, 1 as tag`,
    );
    return id;
  };
  const age = (id: string, seconds: number) =>
    sql`update execution_queue set executed_at = clock_timestamp() - make_interval(secs => ${seconds})
      where id = ${id}`.execute(db);
  await age(await queue(agents[2] ?? '', other.workspaceId), 5_000);
  assert.equal(await readQueueAge(db, scope), 0);
  const [first, second] = [
    await queue(agents[0] ?? '', workspaceId),
    await queue(agents[1] ?? '', workspaceId),
  ];
  await age(first, 2_000);
  await age(second, 1_000);
  const rounded = async (of: Partial<Scope>) =>
    Math.floor((await readQueueAge(db, { ...scope, ...of })) / 1_000);
  assert.equal(await rounded({}), 2);
  assert.equal(await rounded({ agentIds: [agents[1] ?? ''] }), 1);
  assert.equal(await rounded({ tag: 'beta' }), 0);
  // A claimed execution and one that waits for a retry do not wait in the queue.
  await sql`update execution_queue set worker = id where id = ${first}`.execute(db);
  await sql`update execution_queue set available_at = 'infinity' where id = ${second}`.execute(db);
  assert.equal(await rounded({}), 0);
});

test('waits end with the first start and are seen at whole minutes', async () => {
  const own = await service.workspace();
  const agentId = (await addAgent(service, { workspaceId: own.workspaceId })).id;
  const at = (seconds: number) => startMs + seconds * 1_000;
  const record = { workspaceId: own.workspaceId, agentId, atMs: at(30) };
  const put: (RecordOptions & { readonly startedMs?: number; readonly endedMs?: number })[] = [
    { ...record, startedMs: at(180) },
    { ...record, atMs: at(45), startedMs: at(170) },
    { ...record, startedMs: at(40) },
    { ...record, status: 'canceled', endedMs: at(120) },
    { ...record, status: 'rate_limited', endedMs: at(3_600) },
  ];
  const ids = await putRecords(db, put);
  for (const [index, { startedMs = null, endedMs = at(4_000) }] of put.entries()) {
    await sql`
      update executions set started_at = to_timestamp(${startedMs}::float8 / 1000), completed_at = to_timestamp(${endedMs}::float8 / 1000)
      where id = ${ids[index]}`.execute(db);
  }
  await queueExecutions(
    db,
    sql`select ${uuid7(at(50))}::uuid as id, ${own.workspaceId}::uuid as workspace_id, ${agentId}::uuid as agent_id, 1 as tag`,
  );
  await sql`update execution_queue set executed_at = to_timestamp(${at(50)}::float8 / 1000) where agent_id = ${agentId}`.execute(
    db,
  );
  const read = (tag: string | null) =>
    readWaits(
      db,
      { workspaceId: own.workspaceId, metric: 'queueAge', agentIds: null, tag },
      { fromMs: startMs, toMs: startMs + hourMs },
    );
  assert.deepEqual(await read(null), [
    { fromMs: at(30), lastMs: at(60) },
    { fromMs: at(30), lastMs: at(120) },
    { fromMs: at(50), lastMs: null },
  ]);
  assert.deepEqual(await read('beta'), []);
});
