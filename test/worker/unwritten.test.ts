import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { addAgent, ended } from '../harness/agents.ts';
import { startService } from '../harness/service.ts';

/** Ends that the database does not take: for long, or as they are. */

const leaseMs = 300;
// The only process: nobody can take its runs, however long it stands still.
const service = await startService({ config: { leaseMs } });
// A machine that stands still for longer than so short a lease is a database that is silent: that is no matter here.
after(() => {
  service.faults.length = 0;
  return service.close();
});
const { db } = service;
const { key } = await service.key();

async function execute(path: string): Promise<string> {
  const { body } = await service.call('POST', `${path}/execute`, {
    key,
    body: { variables: { name: 'x' } },
  });
  return String(body.statusUrl);
}

test('an answer is kept until it can be written, and its model is not called again meanwhile', async () => {
  const agent = await addAgent(service);
  await sql`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'not now'; end $$`.execute(
    db,
  );
  await sql`create trigger refuse before update on executions execute function refuse()`.execute(
    db,
  );
  const statusUrl = await execute(agent.path);
  while (!service.faults.some((fault) => JSON.stringify(fault).includes('finish failed'))) {
    await wait(20);
  }
  const { length } = service.models.calls;
  // Longer than it takes to give up after ten leases, to find a run that nobody knows twice, and to call anew.
  await wait(leaseMs * 20);
  await sql`drop trigger refuse on executions`.execute(db);
  const record = await ended(service, statusUrl, key);
  assert.equal(record.status, 'success');
  assert.equal(service.models.calls.length, length);
});

test('a run that began longer ago than a number of milliseconds can tell ends all the same', async () => {
  const agent = await addAgent(service);
  const held = service.models.hold();
  const statusUrl = await execute(agent.path);
  await held.arrived;
  await sql`update run_queue set started_at = clock_timestamp() - interval '40 days'`.execute(db);
  held.release();
  const record = await ended(service, statusUrl, key);
  assert.equal(record.status, 'success');
  assert.equal(record.latencyMs, 2_147_483_647);
});
