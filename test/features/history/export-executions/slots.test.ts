import assert from 'node:assert/strict';
import { get, type IncomingMessage } from 'node:http';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { addAgent } from '../../../../harness/agents.ts';
import { countHistory } from '../../../../harness/records.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService({ role: 'api' });
after(service.close);
const { db } = service;
const records = 800;
const a = await addTenant();
const b = await addTenant();
const c = await addTenant();
const d = await addTenant();
const e = await addTenant();
await countHistory(db);

/** Creates a workspace with a history larger than the socket buffers; returns a function that exports it, at any process. */
async function addTenant() {
  const { workspaceId, ownerId } = await service.workspace();
  const { id } = await addAgent(service, { workspaceId, createdBy: ownerId });
  const { key } = await service.key({ userId: ownerId, workspaceId });
  await sql`
    insert into executions (id, workspace_id, agent_id, prompt_version_id, executed_at, completed_at, status, source,
      agent_name, prompt_version_label, model, output)
    select (lpad(to_hex(1700000000000 + n), 12, '0') || '7000' || right(${id.replaceAll('-', '')}, 16))::uuid, ${workspaceId}, ${id}, ${id},
      to_timestamp(1700000000 + n / 1000.0), clock_timestamp(), 'success', 'api', 'Large', 'v1', 'cueline/echo',
      repeat(md5(n::text), 1000)
    from generate_series(1, ${records}::int) as n`.execute(db);
  return ({ url } = service): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}` };
      const path = `${url}/api/v1/executions/export`;
      get(path, { headers, agent: false }, resolve).on('error', reject);
    });
}

/** The number of records, or null for an aborted export. */
async function recordsOf(response: IncomingMessage): Promise<number | null> {
  response.setEncoding('utf8');
  try {
    return (await response.toArray()).join('').split('\n').length - 1;
  } catch {
    return null;
  }
}

test('a workspace without an export gets the slot of one with several, but never its last', async () => {
  const [a1, b1, a2, b2] = [await a(), await b(), await a(), await b()];
  const c1 = await c();
  assert.equal(c1.statusCode, 200);
  assert.equal(await recordsOf(a1), null);
  // It has one left, so it takes no other slot.
  assert.equal((await a()).statusCode, 503);
  assert.equal((await c()).statusCode, 503);
  const d1 = await d();
  assert.equal(d1.statusCode, 200);
  assert.equal(await recordsOf(b1), null);
  assert.equal((await e()).statusCode, 503);
  const remaining = await Promise.all([a2, b2, c1, d1].map(recordsOf));
  assert.deepEqual(remaining, Array(4).fill(records));
  const logged = service.faults.splice(0) as { readonly msg: string }[];
  assert.equal(logged.filter(({ msg }) => msg === 'export aborted').length, 2);
});

test('an export that has not responded yet can lose its slot too', async () => {
  // A process of its own: those refused above keep a claim there for a while. Here an export must wait in vain for a
  // connection before the statements of others time out.
  const other = await startService({ role: 'api', sharedWith: service, connectMsMax: 15_000 });
  const lock = await db.begin('read committed');
  // The last export waits for a connection longer than a transaction may be idle by default.
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(lock);
  await sql`lock table executions in access exclusive mode`.execute(lock);
  const requested = [];
  for (const one of [a, b, a, b]) {
    requested.push(one(other));
    while ((await waiting()) < requested.length) await wait(20);
  }
  // It has a slot but no connection yet: the previous statement is still running.
  assert.equal((await c(other)).statusCode, 503);
  await lock.rollback();
  const responses = await Promise.all(requested);
  assert.deepEqual(
    responses.map(({ statusCode }) => statusCode),
    [503, 200, 200, 200],
  );
  const next = await c(other);
  assert.equal(next.statusCode, 200);
  for (const one of [...responses, next]) one.destroy();
  // Each rejection logs a warning.
  other.faults.splice(0);
  await other.close();
});

/** Statements that wait for the lock. */
async function waiting(): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  return rows[0]?.n ?? 0;
}
