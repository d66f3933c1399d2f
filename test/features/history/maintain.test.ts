import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../harness/service.ts';
import { sql } from '../../../src/db/sql.ts';
import { runAll } from '../../../src/engine/transaction/paced-transactions.ts';
import { maintenanceJobs } from '../../../src/process/background-jobs.ts';

const service = await startService({ role: 'api' });
after(service.close);
const { db, workspaceId } = service;

test('a failure to create partitions does not block the deletion of expired rows', async () => {
  await sql`
    insert into idempotency
    select gen_random_uuid(), ${workspaceId}::uuid, n, '', gen_random_uuid(), 'made', '{}',
      clock_timestamp() - n * interval '20 hours'
    from generate_series(1, 2) as n`.execute(db);
  await sql`
    create or replace function make_execution_partitions(months_ahead integer) returns void language plpgsql as $$
    begin raise 'no lock' using errcode = '55P03'; end $$`.execute(db);
  await assert.rejects(runAll(maintenanceJobs(db)), /no lock/);
  const { rows } = await sql<{ key: string }>`select key from idempotency`.execute(db);
  assert.deepEqual(rows, [{ key: '1' }]);
});
