import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openTestDatabase } from '../../../harness/database.ts';
import { freshId } from '../../../harness/fresh-id.ts';
import { firstHundred } from '../../../harness/history.ts';
import { queueExecutions } from '../../../harness/records.ts';
import { readsOfTable } from '../../../harness/table-reads.ts';
import { everything } from '../../../src/core/history/history-range.ts';
import { sql } from '../../../src/db/sql.ts';
import { countQueued } from '../../../src/features/history/statements/history-counts.ts';

const { db, close } = await openTestDatabase(1);
after(close);

test('queued executions are counted without reading their rows, also when those of the playground are left out', async () => {
  const agentId = freshId();
  const [workspaceId, otherId] = [freshId(), freshId()];
  // PostgreSQL would read a table that has little else from its beginning to its end.
  await queueExecutions(
    db,
    sql`select uuidv7() as id, ${workspaceId}::uuid as workspace_id, n as tag,
        case when n % 5 = 0 then ${agentId} else ${otherId} end::uuid as agent_id
      from generate_series(1, 5000) as n`,
  );
  await sql`vacuum analyze execution_queue`.execute(db);
  const request = { ...firstHundred([agentId]), includeProcessing: true, playground: false };
  const before = await readsOfTable(db, 'execution_queue');
  const count = await db.transaction((trx) => countQueued(trx, request, everything));
  assert.equal(count, 1_000);
  const read = (await readsOfTable(db, 'execution_queue')) - before;
  assert.ok(read < 100, `${read} rows read`);
});
