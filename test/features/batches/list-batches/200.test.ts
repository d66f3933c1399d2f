import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import {
  batchWhen,
  jsonLines,
  namedLines,
  resultsOf,
  unlimited,
  upload,
} from '../../../../harness/batches.ts';
import { startService } from '../../../../harness/service.ts';
import { fromId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';
import { deleteOldBatches } from '../../../../src/features/batches/statements/due-batches.ts';

const service = await startService();
after(service.close);
const { key } = await service.key({ rateLimits: unlimited });
const one = jsonLines(namedLines(1));

test('lists the batches of an agent, newest first and in pages', async () => {
  const [agent, other] = [await addAgent(service), await addAgent(service)];
  await upload(service, other, one, { key });
  const ids: string[] = [];
  for (const _ of [1, 2, 3]) ids.unshift((await upload(service, agent, one, { key })).body.batchId);
  const page = await service.call('GET', `${agent.path}/batches?limit=2&offset=1`, { key });
  assert.deepEqual(
    page.body.batches.map(({ batchId }: { batchId: string }) => batchId),
    ids.slice(1),
  );
  assert.deepEqual(page.body.pagination, { limit: 2, offset: 1, total: 3, hasMore: false });
});

test('a key without read sees only the batches that it uploaded', async () => {
  const agent = await addAgent(service);
  const theirs = (await upload(service, agent, one, { key })).body.statusUrl;
  const { key: executing } = await service.key({ permissions: ['execute'], rateLimits: unlimited });
  const own = (await upload(service, agent, one, { key: executing })).body.statusUrl;
  const { body } = await service.call('GET', `${agent.path}/batches`, { key: executing });
  assert.equal(body.pagination.total, 1);
  const batch = await batchWhen(service, own, executing);
  assert.equal(batch.executedBy, null);
  const [result] = await resultsOf(service, own, executing);
  assert.equal(result.outputText, 'Hello line 1');
  assert.equal((await service.call('GET', theirs, { key: executing })).status, 404);
  await assert.rejects(resultsOf(service, theirs, executing), /^Error: 404/);
});

test('a session uploads and reads batches, whose records have source api and no key', async () => {
  const agent = await addAgent(service);
  const user = await service.member('editor');
  const headers = { 'content-type': 'application/jsonl' };
  const path = `${agent.path}/batches`;
  const { status, body } = await service.call('POST', path, { user, body: one, headers });
  assert.equal(status, 202);
  const batch = await batchWhen(service, body.statusUrl, key);
  assert.deepEqual([batch.apiKeyId, batch.counts.success], [null, 1]);
  const { rows } = await sql`
    select source::text as source, api_key_id, executed_by from executions
    where batch_id = ${fromId('batch', body.batchId)}`.execute(service.db);
  assert.deepEqual(rows, [{ source: 'api', apiKeyId: null, executedBy: user }]);
  const viewer = await service.member('viewer');
  const denied = await service.call('POST', path, { user: viewer, body: one, headers });
  assert.deepEqual([denied.status, denied.body.code], [403, 'PERMISSION_DENIED']);
  assert.equal((await service.call('GET', body.statusUrl, { user: viewer })).status, 200);
});

test('ended batches are deleted with the records of their agent', async () => {
  const agent = await addAgent(service);
  const { body } = await upload(service, agent, one, { key });
  await batchWhen(service, body.statusUrl, key);
  await sql`update batches set completed_at = completed_at - interval '3 days'
    where id = ${fromId('batch', body.batchId)}`.execute(service.db);
  const remaining = async () => (await service.call('GET', body.statusUrl, { key })).status;
  assert.equal(await deleteOldBatches(service.db, 10), 0);
  assert.equal(await remaining(), 200);
  await sql`update agents set records_days = 2 where id = ${agent.id}`.execute(service.db);
  assert.equal(await deleteOldBatches(service.db, 10), 1);
  assert.equal(await remaining(), 404);
});
