import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addBudget } from '../../../harness/budgets.ts';
import { freshId } from '../../../harness/fresh-id.ts';
import { startService } from '../../../harness/service.ts';
import { sql } from '../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { db } = service;

/** As a process of the previous version registers its worker. */
async function addCareless(): Promise<string> {
  const id = freshId();
  await sql`
    insert into workers (id, lease_until) values (${id}, clock_timestamp() + interval '1 hour')`.execute(
    db,
  );
  return id;
}

test('no budget exists beside a worker that reserves nothing, whichever comes first', async () => {
  const careless = await addCareless();
  await assert.rejects(addBudget(service, { limitUSD: 1 }), /earlier version/);
  await sql`delete from workers where id = ${careless}`.execute(db);
  await addBudget(service, { limitUSD: 1 });
  await assert.rejects(addCareless(), /earlier version/);
});
