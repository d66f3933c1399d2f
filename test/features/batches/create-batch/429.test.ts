import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import {
  batchWhen,
  jsonLines,
  namedLines,
  type TestLine,
  unlimited,
  upload,
} from '../../../../harness/batches.ts';
import { type Service, type ServiceOptions, startService } from '../../../../harness/service.ts';
import { unrunLinesMax } from '../../../../src/core/batch/batch.ts';
import { sql } from '../../../../src/db/sql.ts';

/** What the batches of a workspace keep in the database for later is limited. Without a worker, their lines wait. */

const storage = (limits: { linesMax?: number; bytesMax?: number }): Partial<ServiceOptions> => ({
  role: 'api',
  config: { batchStorage: { linesMax: 1_000, bytesMax: 1_000_000, ...limits } },
});

async function open(options: ServiceOptions) {
  const service = await startService(options);
  const { key } = await service.key({ rateLimits: unlimited });
  const agent = await addAgent(service);
  const send = (lines: readonly unknown[], more = {}) =>
    upload(service, agent, jsonLines(lines), { key, ...more });
  return { service, key, agent, send };
}

/** Of all batches in the database. */
async function stored({ db }: Pick<Service, 'db'>): Promise<{ lines: number; bytes: number }> {
  const { rows } = await sql<{ lines: number; bytes: number }>`
    select coalesce(sum(waiting), 0)::int as lines, coalesce(sum(bytes), 0)::int as bytes from batches`.execute(
    db,
  );
  return rows[0] ?? { lines: -1, bytes: -1 };
}

function bytesOf(lines: readonly TestLine[]): number {
  const texts = lines.map(({ id, variables, user }) => {
    const labels = user === undefined ? '' : JSON.stringify({ user });
    return id + JSON.stringify(variables) + labels;
  });
  return Buffer.byteLength(texts.join(''));
}

test('beyond the lines that may wait, an upload is refused as a whole, until others are canceled', async (t) => {
  const { service, key, send } = await open(storage({ linesMax: 10 }));
  t.after(service.close);
  const first = await send(namedLines(6));
  assert.equal(first.status, 202);
  for (const more of [{}, { idempotencyKey: 'nightly' }]) {
    const refused = await send(namedLines(5), more);
    assert.deepEqual([refused.status, refused.body.code], [429, 'BATCH_LIMIT_EXCEEDED']);
    assert.match(refused.body.message, /more than 10 lines of batches that wait/);
    const limitedBy = { scope: 'workspace', resource: 'waitingLines', limit: 10 };
    assert.deepEqual(refused.body.limitedBy, limitedBy);
    assert.equal(refused.headers.get('retry-after'), '60');
  }
  assert.equal((await stored(service)).lines, 6);
  assert.equal((await send(namedLines(4))).status, 202);
  const stranger = await service.workspace();
  const issuer = { ...stranger, userId: stranger.ownerId };
  const { key: other } = await service.key({ ...issuer, rateLimits: unlimited });
  const theirs = await addAgent(service, { ...stranger, createdBy: stranger.ownerId });
  const file = jsonLines(namedLines(10));
  assert.equal((await upload(service, theirs, file, { key: other })).status, 202);
  await service.call('POST', `${first.body.statusUrl}/cancel`, { key });
  assert.equal((await send(namedLines(6))).status, 202);
  assert.equal((await send(namedLines(1))).status, 429);
});

test('the bytes that may wait are exact: ids, variables and labels', async (t) => {
  const lines = namedLines(3, 'zürich').map((line) => ({ ...line, user: 'Zoë' }));
  const bytesMax = 2 * bytesOf(lines);
  const { service, key, send } = await open(storage({ bytesMax }));
  t.after(service.close);
  const first = await send(lines);
  assert.equal((await send(lines)).status, 202);
  assert.equal((await stored(service)).bytes, bytesMax);
  const refused = await send([{ id: '1', variables: { name: '' } }]);
  assert.deepEqual(refused.body.limitedBy, {
    ...{ scope: 'workspace', resource: 'waitingBytes', limit: bytesMax },
  });
  await service.call('POST', `${first.body.statusUrl}/cancel`, { key });
  assert.equal((await stored(service)).bytes, bytesMax / 2);
  assert.equal((await send(lines)).status, 202);
});

test('uploads at once, to two processes, together store no more than may wait', async (t) => {
  const { service, key, agent } = await open(storage({ linesMax: 10 }));
  const second = await startService({ sharedWith: service, ...storage({ linesMax: 10 }) });
  t.after(async () => {
    await second.close();
    await service.close();
  });
  const uploads = Array.from({ length: 12 }, (_, at) =>
    upload(at % 2 ? service : second, agent, jsonLines(namedLines(3)), { key }),
  );
  const responses = await Promise.all(uploads);
  const count = (status: number) => responses.filter((one) => one.status === status).length;
  // One process may also have no slot for an upload.
  assert.equal(count(202) + count(429) + count(503), 12);
  assert.ok(count(202) <= 3);
  const refused = responses.find(({ status }) => status === 429);
  if (refused) assert.equal(refused.body.code, 'BATCH_LIMIT_EXCEEDED');
  service.faults.splice(0);
  second.faults.splice(0);
  // Now one by one, until nothing fits.
  while ((await upload(second, agent, jsonLines(namedLines(3)), { key })).status === 202);
  assert.equal((await stored(service)).lines, 9);
});

test('lines that start make room, each with its bytes', async (t) => {
  const lines = namedLines(4);
  const { service, key } = await open({ config: storage({ linesMax: 4 }).config ?? {} });
  t.after(service.close);
  const agent = await addAgent(service, { config: { maxConcurrency: 2 } });
  const held = lines.map(() => service.models.hold());
  const send = () => upload(service, agent, jsonLines(lines), { key });
  const first = await send();
  assert.equal(first.status, 202);
  const { statusUrl } = first.body;
  const isRunning = (one: { counts: { processing: number } }) => one.counts.processing === 2;
  await batchWhen(service, statusUrl, key, isRunning);
  assert.deepEqual(await stored(service), { lines: 2, bytes: bytesOf(lines.slice(2)) });
  assert.equal((await send()).status, 429);
  for (const { release } of held) release();
  await batchWhen(service, statusUrl, key);
  assert.deepEqual(await stored(service), { lines: 0, bytes: 0 });
  assert.equal((await send()).status, 202);
});

test('an erasure makes room for the lines that it cancels', async (t) => {
  const lines = namedLines(3).map((line, at) => ({ ...line, user: at === 0 ? 'u-1' : 'u-2' }));
  const { service, key, send } = await open(storage({}));
  t.after(service.close);
  await send(lines);
  const erasure = await service.call('POST', '/api/v1/erasures', { key, body: { user: 'u-1' } });
  assert.equal(erasure.status, 202);
  const hasErased = async () => (await stored(service)).lines === 2;
  while (!(await hasErased())) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal((await stored(service)).bytes, bytesOf(lines.slice(1)));
});

test('lines that were refused or canceled count for a day', async (t) => {
  const { service, key, send } = await open(storage({}));
  t.after(service.close);
  const { body } = await send(namedLines(1));
  await service.call('POST', `${body.statusUrl}/cancel`, { key });
  await sql`update batches set total = ${unrunLinesMax}, canceled = ${unrunLinesMax}`.execute(
    service.db,
  );
  const refused = await send([...namedLines(1), { id: 'bad' }]);
  assert.equal(refused.status, 429);
  assert.equal(refused.body.limitedBy.resource, 'unrunLines');
  assert.equal((await send(namedLines(1))).status, 202);
  await sql`update batches set completed_at = clock_timestamp() - interval '25 hours' where canceled > 0`.execute(
    service.db,
  );
  assert.equal((await send([...namedLines(1), { id: 'bad' }])).status, 202);
});
