import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { addAgent } from '../../../../harness/agents.ts';
import { openResponse } from '../../../../harness/call.ts';
import { readCsvLine } from '../../../../harness/csv.ts';
import { makeHistory } from '../../../../harness/history.ts';
import { countHistory } from '../../../../harness/records.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';
import { exportsMax } from '../../../../src/http/contract/contract-limits.ts';

// No worker: unended executions are inserted by hand.
const service = await startService({ role: 'api' });
after(service.close);
const { db, workspaceId } = service;
const { key } = await service.key();
const [agent, large] = [await addAgent(service), await addAgent(service)];
await makeHistory(db, 3_000, { workspaceId, agentIds: [agent.id] });
await makeLarge();
await countHistory(db);

/** More than the sockets buffer: most of it waits for its reader. */
async function makeLarge(): Promise<void> {
  await sql`
    insert into executions (id, workspace_id, agent_id, prompt_version_id, executed_at, completed_at, status, source,
      agent_name, prompt_version_label, model, output)
    select (lpad(to_hex(1700000000000 + n), 12, '0') || '70008000000000000000')::uuid, ${workspaceId}, ${large.id},
      ${large.id}, to_timestamp(1700000000 + n / 1000.0), clock_timestamp(), 'success', 'api', 'Large', 'v1', 'cueline/echo',
      repeat(md5(n::text), 1000)
    from generate_series(1, 2000) as n`.execute(db);
}

const open = (path: string, as = key) => openResponse(service.url + path, as);

async function text(path: string): Promise<string> {
  const response = await open(path);
  assert.equal(response.statusCode, 200);
  response.setEncoding('utf8');
  return (await response.toArray()).join('');
}

async function exported(
  query: string,
  of = agent,
): Promise<{ executionId: string; status: string }[]> {
  const lines = (await text(`${of.path}/executions/export?${query}`)).split('\n');
  assert.equal(lines.pop(), '');
  return lines.map((line) => JSON.parse(line));
}

/** All pages of the list. */
async function listed(query: string) {
  const all: { executionId: string }[] = [];
  for (let cursor = ''; ; ) {
    const path = `${agent.path}/executions?limit=100&${query}${cursor && `&cursor=${cursor}`}`;
    const { body } = await service.call('GET', path, { key });
    all.push(...body.executions);
    if (!body.pagination.hasMore) return all;
    cursor = body.nextCursor;
  }
}

test('exports every matching record as in the list, newest first', async () => {
  for (const query of [
    '',
    'status=failed',
    'source=workflow&startDate=2026-10-01',
    'variables.customer=c7',
    'q=tide',
  ]) {
    const [records, expected] = [await exported(query), await listed(query)];
    assert.ok(records.length > 0);
    assert.deepEqual(
      records.map((one) => one.executionId),
      expected.map((one) => one.executionId),
    );
  }
});

test('an export without a match is empty', async () => {
  assert.deepEqual(await exported('startDate=2030-01-01'), []);
});

test('an aborted export continues after its last record', async () => {
  const whole = await exported('');
  for (const at of [0, 999, whole.length - 1]) {
    const rest = await exported(`cursor=${whole[at]?.executionId}`);
    assert.deepEqual(rest, whole.slice(at + 1));
  }
});

test('CSV has a header, except after a cursor', async () => {
  const path = `${agent.path}/executions/export?format=csv&status=canceled`;
  const response = await open(path);
  assert.match(response.headers['content-type'] ?? '', /^text\/csv/);
  assert.match(response.headers['content-disposition'] ?? '', /filename="executions-agt_\w+\.csv"/);
  response.resume();
  const lines = (await text(path)).split('\r\n');
  assert.match(lines[0] ?? '', /^executionId,executedAt,/);
  const ids = (await listed('status=canceled')).map((one) => one.executionId);
  assert.deepEqual(
    lines.slice(1, -1).map((line) => readCsvLine(`${line}\r\n`)[0]),
    ids,
  );
  const rest = (await text(`${path}&cursor=${ids[0]}`)).split('\r\n');
  assert.deepEqual(rest.slice(0, -1), lines.slice(2, -1));
});

test('exports all agents', async () => {
  const lines = (await text('/api/v1/executions/export?status=unauthorized')).split('\n');
  assert.equal(lines.length - 1, (await listed('status=unauthorized')).length);
});

test('concurrent changes do not affect an export', async () => {
  const response = await open(`${large.path}/executions/export`);
  response.setEncoding('utf8');
  await new Promise((resolve) => response.once('readable', resolve));
  await sql`update executions set output = 'changed' where agent_id = ${large.id}`.execute(db);
  const lines = (await response.toArray()).join('').split('\n');
  assert.equal(lines.length - 1, 2_000);
  assert.ok(!lines.some((line) => line.includes('changed')));
  await sql`delete from executions where agent_id = ${large.id}`.execute(db);
  await makeLarge();
});

test('an export reads ahead only a little, and its snapshot ends with its reader', async () => {
  const response = await open(`${large.path}/executions/export`);
  await until(async () => (await snapshots()) === 1);
  // A server that reads ahead would soon end its transaction.
  await until(async () => {
    const before = await lastRead();
    await wait(300);
    return before !== null && (await lastRead()) === before;
  });
  response.destroy();
  await until(async () => (await snapshots()) === 0);
});

test('503 beyond the share of a workspace, with any key, until an export ends', async () => {
  const path = `${agent.path}/executions/export`;
  const open_: Awaited<ReturnType<typeof open>>[] = [];
  const openMany = async (length: number, as: string) => {
    const calls = Array.from({ length }, () => open(`${large.path}/executions/export`, as));
    open_.push(...(await Promise.all(calls)));
    assert.ok(open_.every(({ statusCode }) => statusCode === 200));
  };
  const assertRefused = async (as: string) => {
    const refused = await service.call('GET', path, { key: as });
    assert.equal(refused.status, 503);
    assert.equal(refused.body.code, 'UNAVAILABLE');
    assert.equal(refused.headers.get('retry-after'), '5');
    const limit = exportsMax - 1;
    assert.deepEqual(refused.body.share, { resource: 'exports', scope: 'workspace', limit });
  };
  const { key: second } = await service.key();
  await openMany(exportsMax - 1, key);
  await assertRefused(key);
  await assertRefused(second);
  for (const one of open_) one.destroy();
  await until(async () => {
    const response = await open(path);
    response.destroy();
    return response.statusCode === 200;
  });
  // Each rejection logs a warning.
  assert.ok(service.faults.splice(0).length > 0);
});

/** Idle transactions, as an export has between two batches. */
async function snapshots(): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from pg_stat_activity
    where datname = current_database() and state = 'idle in transaction'`.execute(db);
  return rows[0]?.n ?? 0;
}

async function lastRead(): Promise<string | null> {
  const { rows } = await sql<{ at: string | null }>`
    select max(state_change)::text as at from pg_stat_activity
    where datname = current_database() and state = 'idle in transaction'`.execute(db);
  return rows[0]?.at ?? null;
}

async function until(there: () => Promise<boolean>): Promise<void> {
  while (!(await there())) await wait(20);
}
