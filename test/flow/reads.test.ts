import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { uuid7 } from '../../src/core/id.ts';
import { hashKey } from '../../src/core/key.ts';
import { createReads } from '../../src/flow/reads.ts';
import { openPipelines, type Pipelines, type Send } from '../../src/store/pipeline.ts';
import { addAgent } from '../harness/agents.ts';
import { putRecords } from '../harness/records.ts';
import { startService } from '../harness/service.ts';

const service = await startService();
const pipelines = openPipelines({
  connection: service.database.connection,
  answerTimeoutMs: 30_000,
  onError: () => {},
});
after(async () => {
  await pipelines.close();
  await service.close();
});
const { db, workspaceId } = service;

/** Pipelines that note which statements were sent on each trip, and may be held up. */
function watched(holdUp?: () => Promise<void>): { pipelines: Pipelines; trips: string[][] } {
  const trips: string[][] = [];
  const use: Pipelines['use'] = (work) =>
    pipelines.use(async (send) => {
      const trip: string[] = [];
      trips.push(trip);
      const noted: Send = (statement, values) => {
        trip.push(statement.name);
        return send(statement, values);
      };
      const answer = await work(noted);
      await holdUp?.();
      return answer;
    });
  return { pipelines: { ...pipelines, use }, trips };
}

test('those that ask together are each told of their own, in one trip with one statement for each kind', async () => {
  const other = await service.workspace();
  const mine = await addAgent(service);
  const theirs = await addAgent({ ...service, ...other });
  const { key, id: keyId } = await service.key({ permissions: ['read'], agentIds: [mine.agentId] });
  const records = await putRecords(db, [
    { workspaceId, agentId: mine.id, atMs: Date.now() },
    { workspaceId: other.workspaceId, agentId: theirs.id, atMs: Date.now(), status: 'processing' },
  ]);
  const [ended = '', running = ''] = records;
  const { pipelines: noting, trips } = watched();
  const reads = createReads(noting);
  const [caller, unknown, agent, elsewhere, own, wrongAgent, foreign, never] = await Promise.all([
    reads.caller(hashKey(key)),
    reads.caller(hashKey('never issued')),
    reads.agent(workspaceId, mine.id),
    reads.agent(workspaceId, theirs.id),
    reads.execution(workspaceId, { agentId: mine.id, executionId: ended }),
    reads.execution(workspaceId, { agentId: mine.id, executionId: running }),
    reads.execution(workspaceId, { agentId: theirs.id, executionId: running }),
    reads.execution(workspaceId, { agentId: mine.id, executionId: uuid7(Date.now()) }),
  ]);
  assert.deepEqual(trips, [['read-caller-keys', 'read-agent-views', 'read-executions']]);
  assert.deepEqual(
    [caller?.id, caller?.workspaceId, caller?.agentIds, unknown],
    [keyId, workspaceId, [mine.id], null],
  );
  assert.deepEqual([agent?.id, elsewhere], [mine.id, null]);
  assert.deepEqual([own.agent?.id, own.execution?.id], [mine.id, ended]);
  assert.deepEqual([own.execution?.status, own.execution?.output], ['success', 'output']);
  assert.deepEqual([wrongAgent.agent?.id, wrongAgent.execution], [mine.id, null]);
  assert.deepEqual(foreign, { agent: null, execution: null });
  assert.deepEqual([never.agent?.id, never.execution], [mine.id, null]);
});

test('a record is read as it is: its progress from the queue as long as it is there', async () => {
  const agent = await addAgent(service);
  const [running = ''] = await putRecords(db, [
    { workspaceId, agentId: agent.id, atMs: Date.now(), status: 'processing' },
  ]);
  await sql`update run_queue set failures = 2, losses = 1, started_at = now() where id = ${running}`.execute(
    db,
  );
  const reads = createReads(pipelines);
  const { execution } = await reads.execution(workspaceId, {
    agentId: agent.id,
    executionId: running,
  });
  assert.equal(execution?.attempts, 3);
  assert.ok(execution?.startedAt instanceof Date);
  assert.equal(execution?.inputVariables, '{"customer":"c1"}');
  assert.equal(execution?.workflowId, null);
});

test('who asks while a trip is under way is told what stands there after they asked', async () => {
  const { key, id: keyId } = await service.key();
  const underWay = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const { pipelines: held } = watched(() => {
    underWay.resolve();
    return released.promise;
  });
  const reads = createReads(held);
  const before = reads.caller(hashKey(key));
  await underWay.promise;
  await sql`update api_keys set revoked_at = now() where id = ${keyId}`.execute(db);
  const afterwards = reads.caller(hashKey(key));
  released.resolve();
  assert.equal((await before)?.ended, false);
  assert.equal((await afterwards)?.ended, true);
});
