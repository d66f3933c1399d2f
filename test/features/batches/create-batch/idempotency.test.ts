import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, test } from 'node:test';
import { addAgent, type TestAgent } from '../../../../harness/agents.ts';
import {
  batchWhen,
  jsonLines,
  namedLines,
  resultsOf,
  unlimited,
  upload,
} from '../../../../harness/batches.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';
import { deleteUnfinishedUploads } from '../../../../src/features/batches/statements/uploads.ts';

const service = await startService();
after(service.close);
const { key } = await service.key({ rateLimits: unlimited });

/** Sends the beginning of a file, waits until `stored` lines are stored, and disconnects. */
async function interrupt(agent: TestAgent, start: string, stored: number, idempotencyKey?: string) {
  const sending = request(`${service.url}${agent.path}/batches`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/jsonl',
      ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
    },
  });
  const closed = new Promise<void>((resolve) => {
    sending.on('error', () => {});
    sending.on('close', resolve);
  });
  sending.write(start);
  for (;;) {
    const { rows } = await sql<{ total: number }>`
      select total from batches where agent_id = ${agent.id}`.execute(service.db);
    if ((rows[0]?.total ?? -1) >= stored) break;
  }
  sending.destroy();
  await closed;
}

test('the same file returns the first 202, another one 422, in every state', async () => {
  const agent = await addAgent(service);
  const file = jsonLines(namedLines(3));
  const first = await upload(service, agent, file, { key, idempotencyKey: 'once' });
  assert.equal(first.headers.get('idempotent-replayed'), null);
  for (const wait of [false, true]) {
    if (wait) await batchWhen(service, first.body.statusUrl, key);
    const again = await upload(service, agent, file, { key, idempotencyKey: 'once' });
    assert.deepEqual([again.status, again.body], [202, first.body]);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    const other = await upload(service, agent, `${file}\n`, { key, idempotencyKey: 'once' });
    assert.deepEqual([other.status, other.body.code], [422, 'IDEMPOTENCY_KEY_REUSED']);
    for (const [odd, contentType] of [
      ['', 'application/jsonl'],
      [file, 'text/plain'],
    ] as const) {
      const options = { key, idempotencyKey: 'once', contentType };
      const refused = await upload(service, agent, odd, options);
      assert.deepEqual([refused.status, refused.body.code], [422, 'IDEMPOTENCY_KEY_REUSED']);
    }
  }
  const elsewhere = await addAgent(service);
  const other = await upload(service, elsewhere, `${file}\n`, { key, idempotencyKey: 'once' });
  assert.equal(other.status, 202);
  const counts = (await batchWhen(service, first.body.statusUrl, key)).counts;
  assert.equal(counts.success, 3);
});

test('an interrupted upload runs nothing, and a retry skips the ids that are stored', async () => {
  const agent = await addAgent(service);
  const lines = namedLines(1_200);
  const file = `{"id":"line-1"}\n${jsonLines(lines)}`;
  await interrupt(agent, file.slice(0, file.length / 2), 500, 'retried');
  const { body: list } = await service.call('GET', `${agent.path}/batches`, { key });
  assert.deepEqual(list.batches, []);
  const { status, body } = await upload(service, agent, file, { key, idempotencyKey: 'retried' });
  assert.equal(status, 202);
  const { counts } = await batchWhen(service, body.statusUrl, key);
  assert.deepEqual([counts.total, counts.success, counts.refused], [1_201, 1_199, 2]);
  const results = await resultsOf(service, body.statusUrl, key);
  assert.deepEqual(
    results.map(({ line, id }) => [line, id]),
    [[1, 'line-1'], ...lines.map(({ id }, index) => [index + 2, id])],
  );
  assert.equal(new Set(results.map(({ executionId }) => executionId)).size, 1_200);
  const again = await upload(service, agent, file, { key, idempotencyKey: 'retried' });
  assert.deepEqual([again.status, again.body], [202, body]);
});

test('a retry may send only the lines that are missing', async () => {
  const agent = await addAgent(service);
  const lines = namedLines(900);
  await interrupt(agent, jsonLines(lines.slice(0, 600)), 500, 'rest');
  const { body } = await upload(service, agent, jsonLines(lines.slice(500)), {
    ...{ key, idempotencyKey: 'rest' },
  });
  const { counts } = await batchWhen(service, body.statusUrl, key);
  assert.deepEqual([counts.total, counts.success], [900, 900]);
  const results = await resultsOf(service, body.statusUrl, key);
  assert.deepEqual(
    results.map(({ line, id }) => [line, id]),
    lines.map(({ id }, index) => [index + 1, id]),
  );
});

test('an interrupted upload without an Idempotency-Key is removed, others after a day', async () => {
  const agent = await addAgent(service);
  const start = jsonLines(namedLines(600));
  const count = async () => {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from batches where agent_id = ${agent.id}`.execute(service.db);
    return rows[0]?.count;
  };
  await interrupt(agent, start, 500);
  while ((await count()) !== 0);
  await interrupt(agent, start, 500, 'old');
  assert.equal(await deleteUnfinishedUploads(service.db, 10), 0);
  await sql`update batches set created_at = created_at - interval '25 hours'
    where agent_id = ${agent.id}`.execute(service.db);
  assert.equal(await deleteUnfinishedUploads(service.db, 10), 1);
  assert.equal(await count(), 0);
});
