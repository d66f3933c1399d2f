import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { addAgent, ended } from '../../../harness/agents.ts';
import { during } from '../../../harness/locks.ts';
import { startService } from '../../../harness/service.ts';
import { sql } from '../../../src/db/sql.ts';
import { canceledEnd, type Finisher } from '../../../src/engine/complete/finish.ts';
import { writeEnd } from '../../../src/engine/run/write-end.ts';

/** Ends that the database refuses for a while, or cannot store. */

const leaseMs = 300;
// The only process: no other one can free its executions, however long it pauses.
const service = await startService({ config: { leaseMs } });
// A slow machine may exceed the short lease, which is logged as a silent database.
after(() => {
  service.faults.length = 0;
  return service.close();
});
const { db } = service;
const { key } = await service.key();

async function refuseEnds(on: typeof db): Promise<void> {
  await sql`
    create or replace function refuse() returns trigger language plpgsql as $$ begin raise 'not now'; end $$`.execute(
    on,
  );
  await sql`create trigger refuse before delete on execution_queue execute function refuse()`.execute(
    on,
  );
}

async function execute(path: string): Promise<string> {
  const { body } = await service.call('POST', `${path}/execute`, {
    key,
    body: { variables: { name: 'x' } },
  });
  return String(body.statusUrl);
}

test('a result is kept until it can be written, and the model is not called again', async () => {
  const agent = await addAgent(service);
  await refuseEnds(db);
  const statusUrl = await execute(agent.path);
  while (!service.faults.some((fault) => JSON.stringify(fault).includes('finish failed'))) {
    await wait(20);
  }
  const { length } = service.models.calls;
  // Longer than the reconciler would need to release the execution and a claim to call it again.
  await wait(leaseMs * 20);
  await sql`drop trigger refuse on execution_queue`.execute(db);
  const record = await ended(service, statusUrl, key);
  assert.equal(record.status, 'success');
  assert.equal(service.models.calls.length, length);
});

test('calls continue while ends cannot be written, until as many ends wait as there are slots', async (t) => {
  const narrow = await startService({ config: { leaseMs, slots: 1 } });
  t.after(() => {
    narrow.faults.length = 0;
    return narrow.close();
  });
  const agent = await addAgent(narrow);
  const { key: secret } = await narrow.key();
  await refuseEnds(narrow.db);
  const accepted: string[] = [];
  for (let n = 0; n < 3; n++) {
    const { body } = await narrow.call('POST', `${agent.path}/execute`, {
      key: secret,
      body: { variables: { name: 'x' } },
    });
    accepted.push(String(body.statusUrl));
  }
  // One end waits without a slot, and one keeps the only slot.
  while (narrow.models.calls.length < 2) await wait(5);
  await wait(leaseMs * 2);
  assert.equal(narrow.models.calls.length, 2);
  await sql`drop trigger refuse on execution_queue`.execute(narrow.db);
  for (const statusUrl of accepted) {
    const record = await ended(narrow, statusUrl, secret);
    assert.equal(record.status, 'success');
    assert.equal(record.attempts, 1);
  }
  assert.equal(narrow.models.calls.length, 3);
});

test('an execution whose latency overflows the column still ends', async (t) => {
  // With the usual lease: on a slow machine a short one would end, and the next claim would find the execution out of time.
  const steady = await startService();
  t.after(steady.close);
  const agent = await addAgent(steady);
  const { key: secret } = await steady.key();
  const heldCall = steady.models.hold();
  const { body } = await steady.call('POST', `${agent.path}/execute`, {
    key: secret,
    body: { variables: { name: 'x' } },
  });
  await heldCall.arrived;
  const backdate = sql`update execution_queue set started_at = clock_timestamp() - interval '40 days'`;
  // The end waits for the row, so no other process sees a call that is over its deadline.
  const record = await during(
    steady.db,
    (trx) => backdate.execute(trx),
    () => {
      heldCall.release();
      return ended(steady, String(body.statusUrl), secret);
    },
  );
  assert.equal(record.status, 'success');
  assert.equal(record.latencyMs, 2_147_483_647);
});

test('an end that cannot be stored is written without its texts', async () => {
  const run = {
    ...{ slotAgentId: null, workflow: null, id: 'x', storeBodies: true, labels: null },
    ...({ source: 'api', promptVersionId: 'v', model: 'cueline/echo', apiKeyId: null } as const),
  };
  const prompt = { system: 'too long', user: 'too long' };
  const end = canceledEnd(run, prompt);
  const tried: (string | null)[] = [];
  const finisher: Finisher = {
    async finish({ outcome: { prompt } }) {
      tried.push(prompt?.user ?? null);
      if (prompt !== null) throw new RangeError('Invalid string length');
      return { ended: null, worker: null };
    },
    idle: async () => {},
  };
  await writeEnd({ finisher, onError: () => {} }, end, () => tried.length < 5);
  assert.deepEqual(tried, ['too long', null]);
});
