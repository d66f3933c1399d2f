import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { testPipelines } from '../../../harness/pipelines.ts';
import { rowsOfStatement } from '../../../harness/plan.ts';
import { dayMs, putRecords } from '../../../harness/records.ts';
import { startService } from '../../../harness/service.ts';
import type { Pipelines } from '../../../src/db/pipeline.ts';
import { sql } from '../../../src/db/sql.ts';
import { deleteRecords } from '../../../src/features/history/statements/deletion.ts';

const service = await startService({ role: 'api' });
const { db, workspaceId } = service;
const pipelines = testPipelines(service.database.connection);
after(() => pipelines.close());
after(service.close);

const many = 3_000;
const limit = 100;

test('deleting the oldest records of an agent reads only these, however many records exist', async () => {
  const [mine, other] = [await addAgent(service), await addAgent(service)];
  await sql`update workspaces set records_days = 1 where id = ${workspaceId}`.execute(db);
  const oldestMs = Date.now() - 3 * dayMs;
  const ids = await putRecords(
    db,
    Array.from({ length: 2 * many }, (_, at) => ({
      workspaceId,
      agentId: (at % 2 === 0 ? mine : other).id,
      atMs: oldestMs + at,
    })),
  );
  const [from = ''] = ids;
  await sql`analyze executions`.execute(db);
  const rows = await rowsOfStatement(pipelines, 'records-delete-oldest', (send) => {
    const sharing: Pick<Pipelines, 'use'> = { use: (work) => work(send) };
    return deleteRecords(sharing as Pipelines, { agentId: mine.id, from, limit });
  });
  assert.ok(rows >= limit && rows <= 12 * limit, `${rows} rows`);
  const remaining = await sql<{ count: number }>`
    select count(*)::int as count from executions where agent_id = ${mine.id}`.execute(db);
  assert.equal(remaining.rows[0]?.count, many - limit);
});

test('what the stream of a record has emitted is deleted with it', async () => {
  const { id: agentId } = await addAgent(service);
  const ids = await putRecords(
    db,
    [1, 2].map((at) => ({ workspaceId, agentId, atMs: Date.now() - at })),
  );
  await sql`
    insert into stream_chunks (execution_id, attempt, number, events)
    select id, 1, number, '[]' from unnest(${ids}::uuid[]) as id, generate_series(0, 1) as number`.execute(
    db,
  );
  const [removed = '', kept] = ids;
  await deleteRecords(pipelines, { ids: [removed] });
  const { rows } = await sql<{ executionId: string }>`
    select distinct execution_id from stream_chunks`.execute(db);
  assert.deepEqual(rows, [{ executionId: kept }]);
});
