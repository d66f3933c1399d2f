import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { addAgent, ended } from '../../../harness/agents.ts';
import { startService } from '../../../harness/service.ts';
import { sql } from '../../../src/db/sql.ts';

/** A process with API and worker shuts down while it accepts an execution that admission claims at once. */

const service = await startService();
after(service.close);
const { db } = service;
const { key } = await service.key();

async function isWaiting(statement: string): Promise<boolean> {
  const { rows } = await sql`
    select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query ilike ${`%${statement}%`}`.execute(
    db,
  );
  return rows.length > 0;
}

test('an execution accepted during shutdown is executed once, by another process', async () => {
  const agent = await addAgent(service, { config: { maxAttempts: 1 } });
  const stopping = await startService({ sharedWith: service });
  // A call that does not end before the shutdown.
  stopping.models.hold();
  await sql`create function hold() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock_shared(1); return null; end $$`.execute(db);
  await sql`create trigger hold before insert on execution_queue
    for each statement execute function hold()`.execute(db);
  const held = await db.transaction(async (trx) => {
    // Blocks the insertion. Admission has read the lease by then.
    await sql`select pg_advisory_xact_lock(1)`.execute(trx);
    const accepted = fetch(`${stopping.url}${agent.path}/execute`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"variables":{"name":"x"}}',
    });
    while (!(await isWaiting('insert into execution_queue'))) await wait(5);
    const closed = stopping.close();
    // Time for a shutdown that would not wait: its worker row disappears once admission releases it.
    for (let n = 0; n < 50 && !(await isWaiting('from workers')); n++) await wait(10);
    return { accepted, closed };
  });
  const response = await held.accepted;
  assert.equal(response.status, 202);
  const { statusUrl } = (await response.json()) as { statusUrl: string };
  await held.closed;
  const { rows: orphans } = await sql`
    select from execution_queue q
    where q.worker is not null and not exists (select from workers w where w.id = q.worker)`.execute(
    db,
  );
  assert.equal(orphans.length, 0);
  const record = await ended(service, statusUrl, key);
  assert.equal(record.status, 'success');
  assert.equal(record.attempts, 1);
  assert.equal(stopping.models.calls.length + service.models.calls.length, 1);
});
