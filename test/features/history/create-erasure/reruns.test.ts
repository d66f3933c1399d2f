import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { batchWhen, jsonLines, namedLines, upload } from '../../../../harness/batches.ts';
import { during } from '../../../../harness/locks.ts';
import { runRetentionRound } from '../../../../harness/retention-round.ts';
import { fromId, uuid7 } from '../../../../src/core/id.ts';
import { readClock } from '../../../../src/db/clock.ts';
import { sql } from '../../../../src/db/sql.ts';
import { beginUpload, finishUpload } from '../../../../src/features/batches/statements/uploads.ts';
import { forgetErasedRuns } from '../../../../src/features/history/statements/erased-runs.ts';
import { insertErasure } from '../../../../src/features/history/statements/erasures.ts';
import { failingItems } from '../../workflows/rerun-failed-items/items.ts';

/** What runs items or lines again has what the first run had: an erasure of the one reaches the other. */

const items = await failingItems();
const { service } = items;
after(service.close);
const { db, call, workspaceId } = service;
const { key } = await service.key({ permissions: ['execute', 'read', 'manage', 'own'] });
const path = '/api/v1/erasures';

async function erasureOf(body: object) {
  const accepted = await call('POST', path, { key, body });
  assert.equal(accepted.status, 202);
  const at = `${path}/${accepted.body.erasureId}`;
  return async () => {
    for (;;) {
      await runRetentionRound(db, service.database);
      const { body: erasure } = await call('GET', at, { key });
      if (erasure.status === 'completed') return erasure;
    }
  };
}

async function rerunOf(statusUrl: string): Promise<{ id: string | null; statusUrl: string }> {
  items.fail(['c']);
  const { body } = await items.rerun(statusUrl, 'each');
  await call('GET', `${body.statusUrl}?wait=60`, { key });
  items.fail([]);
  return { id: fromId('workflowRun', body.workflowRunId), statusUrl: body.statusUrl };
}

const other = { user: 'somebody' };

test('runs of items of an erased run go with it, and those of their items', async () => {
  const first = await items.run(['a', 'c']);
  const second = await rerunOf(first.statusUrl);
  const third = await rerunOf(second.statusUrl);
  // Only the first run has executed the step with the value.
  const value = { variable: 'name', value: '["a","b","c"]' };
  const { body: preview } = await call('POST', `${path}/preview`, { key, body: value });
  const complete = await erasureOf(value);
  const { deleted } = await complete();
  for (const { statusUrl } of [first, second, third]) {
    assert.equal((await call('GET', statusUrl, { key })).status, 404);
  }
  assert.equal(preview.records, deleted);
});

test('a run that started while the first one was deleted takes its place', async () => {
  const [first, kept] = [await items.run(['a']), await items.run(['a'])];
  const second = await rerunOf(first.statusUrl);
  const id = uuid7(await readClock(db));
  const none = { agentId: null, requestedBy: null, label: null, labelName: null };
  const erasure = { id, workspaceId, variable: 'x', value: 'y', ...none };
  await db.transaction((trx) => insertErasure(trx, erasure));
  const runIds = [first, kept].map(({ run }) => fromId('workflowRun', run.workflowRunId) ?? '');
  await sql`
    insert into erasure_workflow_runs (erasure_id, run_id) select ${id}, unnest(${runIds}::uuid[])`.execute(
    db,
  );
  await sql`delete from executions where workflow_run_id = ${runIds[0]}`.execute(db);
  await sql`delete from workflow_runs where id = ${runIds[0]}`.execute(db);
  await forgetErasedRuns(db, erasure, runIds);
  const { rows } = await sql<{ runId: string }>`
    select run_id from erasure_workflow_runs where erasure_id = ${id} order by run_id`.execute(db);
  const listed = rows.map(({ runId }) => runId);
  assert.deepEqual(listed, [runIds[1], second.id].sort());
  await sql`delete from erasure_requests where id = ${id}`.execute(db);
});

test('a start waits while the first run is deleted, and is refused', async () => {
  const { run, statusUrl } = await items.run(['a']);
  const id = fromId('workflowRun', run.workflowRunId);
  const refused = await during(
    db,
    (trx) => sql`delete from workflow_runs where id = ${id}`.execute(trx),
    () => items.rerun(statusUrl, 'each'),
  );
  assert.deepEqual(
    [refused.status, refused.body.message],
    [409, 'The workflow run was deleted meanwhile.'],
  );
});

test('nothing runs again while an erasure is in progress', async () => {
  const { statusUrl } = await items.run(['a']);
  const agent = await addAgent(service, { config: { maxAttempts: 1 }, user: 'item {{name}}' });
  items.fail(['x']);
  const { body: batch } = await upload(
    service,
    agent,
    jsonLines([{ id: 'x', variables: { name: 'x' } }]),
    {
      key,
    },
  );
  await batchWhen(service, batch.statusUrl, key);
  const rerunBatch = () => call('POST', `${batch.statusUrl}/rerun`, { key });
  const complete = await erasureOf(other);
  for (const { status, body } of [await items.rerun(statusUrl, 'each'), await rerunBatch()]) {
    assert.deepEqual([status, body.code], [409, 'CONFLICT']);
    assert.match(body.message, /erasure/);
  }
  await complete();
  assert.equal((await items.rerun(statusUrl, 'each')).status, 202);
  assert.equal((await rerunBatch()).status, 202);
});

test('a batch of failed lines does not begin if an erasure was requested while they were copied', async () => {
  const agent = await addAgent(service);
  const { body: first } = await upload(service, agent, jsonLines(namedLines(1)), { key });
  const batch = await batchWhen(service, first.statusUrl, key);
  const { rows } = await sql<{ caller: string; promptVersionId: string }>`
    select caller, prompt_version_id from batches where id = ${fromId('batch', batch.batchId)}`.execute(
    db,
  );
  const nowMs = await readClock(db);
  const own = { id: uuid7(nowMs), upload: uuid7(nowMs) };
  const nobody = { apiKeyId: null, executedBy: null, ipAddress: null, userAgent: null };
  await beginUpload(db, {
    ...{ ...own, ...nobody, workspaceId, agentId: agent.id, idempotencyKey: null, fileName: null },
    caller: rows[0]?.caller ?? '',
    promptVersionId: rows[0]?.promptVersionId ?? '',
    rerunOf: fromId('batch', batch.batchId),
  });
  const complete = await erasureOf(other);
  await complete();
  await assert.rejects(finishUpload(db, { ...own, digest: Buffer.from('') }), /erasure/);
});
