import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { openResponse } from '../../../../harness/call.ts';
import { firstHundred } from '../../../../harness/history.ts';
import { addRecords, endQueued, queueExecutions } from '../../../../harness/records.ts';
import { startService } from '../../../../harness/service.ts';
import type { ExecutionSummary } from '../../../../src/core/execution/execution-fields.ts';
import { fromId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';
import { readExecutionListRows } from '../../../../src/engine/read/executions.ts';
import {
  listExecutions,
  wholeRecords,
} from '../../../../src/features/history/verbs/list-executions.ts';

// No worker: the unended execution is inserted by hand.
const longPages = 4;
const service = await startService({ role: 'api', shareLimits: { longPages } });
after(service.close);
const { db, workspaceId } = service;
const { key } = await service.key();

/** More than the sockets buffer. */
const count = 24;
const length = 2_000_000;
/** The most that is read at once; the last record exceeds it. */
const bytesMax = 8_388_608 + length;
let agent: Awaited<ReturnType<typeof addAgent>>;
let ids: string[];

beforeEach(async () => {
  agent = await addAgent(service);
  ids = await makeRecords(count);
  await sql`
    update executions set output = repeat(left(md5(id::text), 10), ${length / 10})
    where id = any(${ids}::uuid[])`.execute(db);
});

/** Newest first. */
function makeRecords(many: number, variables?: string): Promise<string[]> {
  const atMs = Date.now() - 3_600_000;
  const records = Array.from({ length: many }, (_, n) => ({
    workspaceId,
    agentId: agent.id,
    atMs: atMs - n,
  }));
  return addRecords(
    db,
    records.map((one) => ({ ...one, ...(variables && { variables }) })),
  );
}

const list = (query: string) => service.call('GET', `${agent.path}/executions?${query}`, { key });

const batchesOf = async (question: object = {}) => {
  const { rows } = await listExecutions(db, { ...firstHundred([agent.id]), ...question });
  return wholeRecords((missing) => readExecutionListRows(db, missing), rows);
};

const bytesOf = (rows: readonly ExecutionSummary[]) =>
  rows.reduce((sum, row) => sum + (row.output?.length ?? 0) + (row.inputVariables?.length ?? 0), 0);

test('a page of long records is complete, and has the format of a short one', async () => {
  const { status, headers, body } = await list('limit=20&offset=2');
  assert.equal(status, 200);
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
  assert.equal(headers.get('content-length'), null);
  const shown = ids.slice(2, 22);
  assert.deepEqual(
    body.executions.map((one: { executionId: string }) => fromId('execution', one.executionId)),
    shown,
  );
  assert.deepEqual(body.pagination, { limit: 20, offset: 2, total: count, hasMore: true });
  assert.equal(body.nextCursor, body.executions.at(-1).executionId);
  const { rows } = await sql<{ id: string; output: string }>`
    select id, output from executions where id = any(${shown}::uuid[]) order by id desc`.execute(
    db,
  );
  for (const [n, one] of body.executions.entries()) {
    assert.ok(one.outputText === rows[n]?.output, 'an output is not whole');
    assert.deepEqual(one.inputVariables, { customer: 'c1' });
  }
  const last = await list(`limit=20&cursor=${body.nextCursor}`);
  assert.ok(last.body.executions.length === 2 && !('nextCursor' in last.body));
});

test('a short response is not streamed, even if omitted bodies are long', async () => {
  for (const query of ['limit=2', 'limit=100&omit=bodies']) {
    const { headers } = await list(query);
    assert.ok(Number(headers.get('content-length')) > 0);
  }
});

test('a workspace has a limit of streamed pages; short pages do not count', async () => {
  const path = `${agent.path}/executions?limit=100`;
  // The slot of an earlier test's page may be released after its client has read it all.
  const openFree = async () => {
    for (;;) {
      const response = await open(path);
      if (response.statusCode === 200) return response;
      response.destroy();
    }
  };
  const taken = [];
  // All but one, because a slow reader is disconnected: many pages would take too long to open.
  while (taken.length < longPages - 1) taken.push(await openFree());
  const refused = await list('limit=100');
  assert.deepEqual([refused.status, refused.body.code], [503, 'UNAVAILABLE']);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  assert.equal((await list('limit=2')).status, 200);
  for (const response of taken) response.destroy();
  // Until the server has noticed it.
  while ((await list('limit=100')).status !== 200);
  service.faults.splice(0);
});

test('HEAD returns the headers of a streamed page and of an export', async () => {
  for (const path of ['executions?limit=100', 'executions/export']) {
    const response = await fetch(`${service.url}${agent.path}/${path}`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${key}` },
    });
    assert.deepEqual([response.status, response.headers.get('content-length')], [200, null]);
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
  }
});

test('reads are limited in size, for outputs and for compressed variables', async () => {
  const outputs = await Array.fromAsync(await batchesOf());
  await sql`delete from executions where id = any(${ids}::uuid[])`.execute(db);
  await makeRecords(30, `{"d":"${'d'.repeat(1_000_000)}"}`);
  const variables = await Array.fromAsync(await batchesOf());
  for (const [batches, records] of [
    [outputs, count],
    [variables, 30],
  ] as const) {
    assert.ok(Math.max(...batches.map(bytesOf)) <= bytesMax);
    assert.equal(batches.flat().length, records);
  }
});

test('a record that is deleted during the stream is omitted, and an execution that ends is shown as ended', async () => {
  const oldest = ids.at(-1) ?? '';
  await sql`delete from executions where id = ${oldest}`.execute(db);
  await queueExecutions(
    db,
    sql`select ${oldest}::uuid as id, ${workspaceId}::uuid as workspace_id, ${agent.id}::uuid as agent_id, 1 as tag`,
  );
  const batches = await batchesOf({ includeProcessing: true });
  const first = (await batches.next()).value ?? [];
  const gone = ids.slice(first.length, first.length + 4);
  await sql`delete from executions where id = any(${gone}::uuid[])`.execute(db);
  await endQueued(db, oldest, 'x'.repeat(length));
  const rows = [...first, ...(await Array.fromAsync(batches)).flat()];
  assert.deepEqual(
    rows.map(({ id }) => id),
    ids.filter((id) => !gone.includes(id)),
  );
  assert.deepEqual([rows.at(-1)?.status, rows.at(-1)?.output?.length], ['success', length]);
});

test('a client that does not read holds no database connection; a later failure closes its connection', async () => {
  const response = await open(`${agent.path}/executions?limit=100`);
  assert.equal(response.statusCode, 200);
  const { rows } = await sql<{ open: number }>`
    select count(*)::int as open from pg_stat_activity
    where datname = current_database() and state like 'idle in transaction%'`.execute(db);
  assert.equal(rows[0]?.open, 0);
  await sql`alter view all_executions rename to away`.execute(db);
  await assert.rejects(response.toArray(), /aborted/);
  await sql`alter view away rename to all_executions`.execute(db);
  assert.match(JSON.stringify(service.faults.splice(0)), /executions/);
});

const open = (path: string) => openResponse(service.url + path, key);
