import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { freshId } from '../../../harness/fresh-id.ts';
import { numbered, testPipelines, watchedSend } from '../../../harness/pipelines.ts';
import { putRecords } from '../../../harness/records.ts';
import { startService } from '../../../harness/service.ts';
import { hashKey } from '../../../src/core/people/key.ts';
import type { Pipelines } from '../../../src/db/pipeline.ts';
import { sql } from '../../../src/db/sql.ts';
import { createSharedReads } from '../../../src/engine/read/shared-reads.ts';

const service = await startService({ role: 'api' });
const pipelines = testPipelines(service.database.connection);
after(async () => {
  await pipelines.close();
  await service.close();
});
const { db, workspaceId } = service;

/** Pipelines that record the statements of each round trip, and can be blocked. */
function watched(holdUp?: () => Promise<void>): { pipelines: Pipelines; trips: string[][] } {
  const trips: string[][] = [];
  const use: Pipelines['use'] = (work) =>
    pipelines.use(async (send) => {
      const trip: string[] = [];
      trips.push(trip);
      const noted = watchedSend(send, ({ name }) => {
        trip.push(name);
        return undefined;
      });
      const rows = await work(noted);
      await holdUp?.();
      return rows;
    });
  return { pipelines: { ...pipelines, use }, trips };
}

test('concurrent requests get their own results: keys and agents in one round trip, records in another', async () => {
  const other = await service.workspace();
  const mine = await addAgent(service);
  const theirs = await addAgent({ ...service, ...other });
  const { key, id: keyId } = await service.key({ permissions: ['read'], agentIds: [mine.agentId] });
  const records = await putRecords(db, [
    { workspaceId, agentId: mine.id, atMs: Date.now() },
    { workspaceId: other.workspaceId, agentId: theirs.id, atMs: Date.now(), status: 'processing' },
  ]);
  const [ended = '', running = ''] = records;
  const never = freshId();
  const { pipelines: noting, trips } = watched();
  const reads = createSharedReads({ pipelines: noting });
  const [caller, unknown, agent, gone, own, again, wrongAgent, foreign, missing] =
    await Promise.all([
      reads.caller(hashKey(key)),
      reads.caller(hashKey('never issued')),
      reads.agent(theirs.id),
      reads.agent(never),
      reads.execution({ agentId: mine.id, executionId: ended }),
      reads.execution({ agentId: mine.id, executionId: ended }),
      reads.execution({ agentId: mine.id, executionId: running }),
      reads.execution({ agentId: theirs.id, executionId: running }),
      reads.execution({ agentId: mine.id, executionId: never }),
    ]);
  assert.deepEqual(trips.sort(), [
    ['read-agent-views', 'read-executions'],
    ['read-keys', 'read-agent-views'],
  ]);
  assert.deepEqual(
    [caller?.id, caller?.workspaceId, caller?.agentIds, unknown],
    [keyId, workspaceId, [mine.id], null],
  );
  assert.deepEqual([agent?.workspaceId, gone], [other.workspaceId, null]);
  assert.deepEqual([own.agent?.id, own.execution?.id], [mine.id, ended]);
  assert.equal(again.execution, own.execution, 'both have the same row');
  assert.deepEqual([own.execution?.status, own.execution?.output], ['success', 'output']);
  assert.deepEqual([wrongAgent.agent?.id, wrongAgent.execution], [mine.id, null]);
  assert.deepEqual([foreign.agent?.id, foreign.execution?.status], [theirs.id, 'processing']);
  assert.deepEqual([missing.agent?.id, missing.execution], [mine.id, null]);
});

test('a record shows the progress of its queue row while it is live', async () => {
  const agent = await addAgent(service);
  const [running = ''] = await putRecords(db, [
    { workspaceId, agentId: agent.id, atMs: Date.now(), status: 'processing' },
  ]);
  await sql`update execution_queue set failures = 2, losses = 1, started_at = now() where id = ${running}`.execute(
    db,
  );
  const reads = createSharedReads({ pipelines });
  const { execution } = await reads.execution({ agentId: agent.id, executionId: running });
  assert.equal(execution?.attempts, 3);
  assert.ok(execution?.startedAt instanceof Date);
  assert.equal(execution?.inputVariables, '{"customer":"c1"}');
  assert.equal(execution?.workflowId, null);
});

test('a request during a read gets a result that is newer than the request', async () => {
  const { key, id: keyId } = await service.key();
  const started = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const { pipelines: held } = watched(() => {
    started.resolve();
    return released.promise;
  });
  const reads = createSharedReads({ pipelines: held });
  const before = reads.caller(hashKey(key));
  await started.promise;
  await sql`update api_keys set revoked_at = now() where id = ${keyId}`.execute(db);
  const afterwards = reads.caller(hashKey(key));
  released.resolve();
  assert.equal((await before)?.ended, false);
  assert.equal((await afterwards)?.ended, true);
});

test('requests for one record share its row, unless its read has begun before', async () => {
  const agent = await addAgent(service);
  const [executionId = ''] = await putRecords(db, [
    { workspaceId, agentId: agent.id, atMs: Date.now() },
  ]);
  const started = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const { pipelines: held } = watched(() => {
    started.resolve();
    return released.promise;
  });
  const reads = createSharedReads({ pipelines: held });
  const read = async () => (await reads.execution({ agentId: agent.id, executionId })).execution;
  const before = read();
  await started.promise;
  await sql`update executions set output = 'later' where id = ${executionId}`.execute(db);
  const afterwards = Promise.all([read(), read()]);
  released.resolve();
  assert.equal((await before)?.output, 'output');
  const [first, second] = await afterwards;
  assert.equal(first?.output, 'later');
  assert.equal(first, second);
});

test('large records are read a few at a time, and all are returned', async () => {
  const agent = await addAgent(service);
  const ids = await putRecords(
    db,
    Array.from({ length: 5 }, () => ({ workspaceId, agentId: agent.id, atMs: Date.now() })),
  );
  await sql`update executions set output = repeat('x', 5000000) where id = any(${ids}::uuid[])`.execute(
    db,
  );
  const { pipelines: noting, trips } = watched();
  const reads = createSharedReads({ pipelines: noting });
  const agentId = agent.id;
  const large = ids.map((executionId) => reads.execution({ agentId, executionId }));
  const missing = await reads.execution({ agentId, executionId: freshId() });
  assert.equal(missing.execution, null);
  assert.equal(trips.length, 1, 'what there is not waits for nothing');
  const found = await Promise.all(large);
  assert.deepEqual(
    found.map(({ execution }) => execution?.id),
    ids,
  );
  // Two fit: the second starts within the budget.
  assert.equal(trips.length, 3);
});

test('an unreadable record fails only the requests for it', async () => {
  const agent = await addAgent(service);
  const [good = '', bad = ''] = await putRecords(db, [
    { workspaceId, agentId: agent.id, atMs: Date.now() },
    { workspaceId, agentId: agent.id, atMs: Date.now() },
  ]);
  const damaged: Pipelines['use'] = (work, ms) =>
    pipelines.use((send) => {
      const failing = watchedSend(send, ({ name, values }) => {
        const isBroken = name === 'read-executions' && String(values[0]).includes(bad);
        return isBroken ? numbered('broken', 'select 1 / 0') : undefined;
      });
      return work(failing);
    }, ms);
  const reads = createSharedReads({ pipelines: { ...pipelines, use: damaged } });
  const [read, failed] = await Promise.allSettled([
    reads.execution({ agentId: agent.id, executionId: good }),
    reads.execution({ agentId: agent.id, executionId: bad }),
  ]);
  assert.equal(read.status === 'fulfilled' && read.value.execution?.id, good);
  assert.equal(failed.status, 'rejected');
});
