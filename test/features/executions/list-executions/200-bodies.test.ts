import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { addAgent, run } from '../../../../harness/agents.ts';
import { firstHundred } from '../../../../harness/history.ts';
import { startService } from '../../../../harness/service.ts';
import type { Trx } from '../../../../src/db/database.ts';
import { inSnapshot } from '../../../../src/db/in-snapshot.ts';
import { sql } from '../../../../src/db/sql.ts';
import { readPage } from '../../../../src/features/history/verbs/list-executions.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();

test('omit=bodies omits variables and output only', async () => {
  const agent = await addAgent(service);
  await run(service, agent, key, { name: 'Ada' });
  for (const path of [`${agent.path}/executions?`, `/api/v1/executions?status=success&`]) {
    const { body: whole } = await service.call('GET', path, { key });
    const { body: short } = await service.call('GET', `${path}omit=bodies`, { key });
    const [{ inputVariables, outputText, ...others }] = whole.executions;
    assert.deepEqual([inputVariables, outputText], [{ name: 'Ada' }, 'Hello Ada']);
    assert.deepEqual(short.executions, [others]);
    assert.deepEqual(short.pagination, whole.pagination);
  }
});

test('preview=true adds the first line of the output, at most 200 characters', async () => {
  const agent = await addAgent(service, { user: '{{name}}' });
  for (const name of ['\n  One line \nand another', 'x'.repeat(300)]) {
    await run(service, agent, key, { name });
  }
  for (const query of ['', '&sort=executedAt', '&sort=costUSD', '&q=one', '&status=success']) {
    const path = `${agent.path}/executions?omit=bodies&preview=true${query}`;
    const { body } = await service.call('GET', path, { key });
    const previews = body.executions.map((one: { outputPreview: string }) => one.outputPreview);
    assert.ok(previews.includes('One line'), query);
    assert.equal(previews.includes('x'.repeat(200)), query !== '&q=one', query);
    for (const one of body.executions) assert.ok(!('outputText' in one));
  }
});

test('a search also finds omitted bodies', async () => {
  const agent = await addAgent(service);
  await run(service, agent, key, { name: 'Grace' });
  const { body } = await service.call('GET', `${agent.path}/executions?q=grace&omit=bodies`, {
    key,
  });
  assert.equal(body.pagination.total, 1);
  assert.ok(!('outputText' in body.executions[0]));
});

test('no other value is allowed', async () => {
  const agent = await addAgent(service);
  const { status, body } = await service.call('GET', `${agent.path}/executions?omit=all`, { key });
  assert.equal(status, 400);
  assert.match(body.message, /omit.*bodies/);
});

test('omitted long bodies are not read', async () => {
  const agent = await addAgent(service);
  await run(service, agent, key, { name: randomBytes(30_000).toString('base64') });
  const lookedUp = (omitsBodies: boolean, includeProcessing: boolean) =>
    inSnapshot(service.db, async (trx) => {
      const before = await looksApart(trx);
      const question = { ...firstHundred([agent.id]), omitsBodies, includeProcessing };
      assert.equal((await readPage(trx, question)).rows.length, 1);
      return (await looksApart(trx)) - before;
    });
  for (const includeProcessing of [true, false]) {
    assert.ok((await lookedUp(false, includeProcessing)) > 0);
    assert.equal(await lookedUp(true, includeProcessing), 0);
  }
});

/** Number of reads from the TOAST table of records on this connection. */
async function looksApart(trx: Trx): Promise<number> {
  const { rows } = await sql<{ looks: number }>`
    select coalesce(sum(idx_scan), 0)::int as looks from pg_stat_xact_all_tables
    where relid in (select c.reltoastrelid from pg_partition_tree('executions') p
      join pg_class c on c.oid = p.relid)`.execute(trx);
  return rows[0]?.looks ?? 0;
}
