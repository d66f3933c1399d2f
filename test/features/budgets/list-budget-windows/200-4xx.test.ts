import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { addSettlement, addWindow, createBudget } from '../../../../harness/created-budgets.ts';
import { startService } from '../../../../harness/service.ts';
import { fromId } from '../../../../src/core/id.ts';

const service = await startService();
after(service.close);
const { key, apiKeyId } = await service.key();

async function windows(path: string, query = '') {
  const { status, body } = await service.call('GET', `${path}/windows${query}`, { key });
  assert.equal(status, 200, body.message);
  return body;
}

test('a budget for all calls shows its current window before the first one', async () => {
  const { path } = await createBudget(service, key, { period: 'month', limitUSD: 3 });
  const { windows: all, nextCursor } = await windows(path);
  assert.equal(nextCursor, undefined);
  const [{ windowStart, resetAt, ...first }] = all;
  assert.deepEqual(first, {
    ...{ bucket: '', limitUSD: 3, settledUSD: 0, reservedUSD: 0, leftUSD: 3 },
    ...{ calls: 0, unknownCalls: 0 },
  });
  assert.match(windowStart, /^\d{4}-\d\d-01T00:00:00.000Z$/);
  assert.match(resetAt, /^\d{4}-\d\d-01T00:00:00.000Z$/);
  assert.ok(resetAt > windowStart);
});

test('a budget for all calls has no window of a bucket', async () => {
  const settings = { enabled: false, name: 'Without buckets' };
  const { path, budgetId } = await createBudget(service, key, settings);
  await addWindow(service, budgetId, { settled: 1 });
  assert.deepEqual((await windows(path, '?bucket=ann')).windows, []);
  assert.equal((await windows(path, '?bucket=')).windows[0].settledUSD, 1);
});

test('a budget in total has no end', async () => {
  const settings = { enabled: false, name: 'Total', period: 'total' };
  const { path, createdAt } = await createBudget(service, key, settings);
  const [window] = (await windows(path)).windows;
  assert.deepEqual([window.windowStart, window.resetAt], [createdAt, null]);
});

test('what is settled and not folded yet counts', async () => {
  const { path, budgetId } = await createBudget(service, key, {
    enabled: false,
    name: 'Unfolded',
    limitUSD: 10,
  });
  await addWindow(service, budgetId, { settled: 1, reserved: 5, calls: 2 });
  await addSettlement(service, budgetId, { reserved: -2, settled: 0.5 });
  await addSettlement(service, budgetId, { reserved: -1, settled: 1, unknown: true });
  const [window] = (await windows(path)).windows;
  const { settledUSD, reservedUSD, leftUSD, calls, unknownCalls } = window;
  assert.deepEqual([settledUSD, reservedUSD, leftUSD], [2.5, 2, 5.5]);
  assert.deepEqual([calls, unknownCalls], [4, 1]);
  await service.call('PATCH', path, { key, body: { limitUSD: 4 } });
  assert.equal((await windows(path)).windows[0].leftUSD, 0);
});

test('the latest windows come first, and of these the fullest', async () => {
  const settings = { enabled: false, name: 'Users', per: 'user', period: 'day' };
  const { path, budgetId } = await createBudget(service, key, settings);
  await addWindow(service, budgetId, { bucket: 'ann', settled: 2, reserved: 3 });
  await addWindow(service, budgetId, { bucket: 'bob', settled: 9 });
  await addWindow(service, budgetId, { bucket: 'Zoë', settled: 5 });
  await addWindow(service, budgetId, { bucket: 'Zoë', settled: 19, periodsAgo: 1 });
  const all = ['bob', 'Zoë', 'ann', 'Zoë'];
  const buckets = (body: { windows: { bucket: string }[] }) =>
    body.windows.map(({ bucket }) => bucket);
  assert.deepEqual(buckets(await windows(path)), all);
  const paged: string[] = [];
  for (let cursor = ''; ; ) {
    const body = await windows(path, `?limit=1${cursor}`);
    paged.push(...buckets(body));
    if (!body.nextCursor) break;
    cursor = `&cursor=${body.nextCursor}`;
  }
  assert.deepEqual(paged, all);
  const ofOne = await windows(path, `?bucket=${encodeURIComponent('Zoë')}`);
  assert.deepEqual(
    ofOne.windows.map(({ settledUSD }: { settledUSD: number }) => settledUSD),
    [5, 19],
  );
  const [unknown, ...more] = (await windows(path, '?bucket=carl')).windows;
  assert.deepEqual([unknown.bucket, unknown.leftUSD, more], ['carl', 20, []]);
});

test('agents and keys are buckets by their identifiers, a rotated key as its first one', async () => {
  const { agentId, id } = await addAgent(service);
  const agents = await createBudget(service, key, { enabled: false, name: 'Agents', per: 'agent' });
  await addWindow(service, agents.budgetId, { bucket: id, settled: 1 });
  await addWindow(service, agents.budgetId, { bucket: 'other' });
  const found = (await windows(agents.path)).windows;
  assert.deepEqual(
    found.map(({ bucket }: { bucket: string }) => bucket),
    [agentId, 'other'],
  );
  assert.equal((await windows(agents.path, `?bucket=${agentId}`)).windows[0].settledUSD, 1);
  const keys = await createBudget(service, key, { enabled: false, name: 'Keys', per: 'key' });
  const subject = fromId('key', apiKeyId) ?? '';
  await addWindow(service, keys.budgetId, { bucket: subject, settled: 4 });
  const rotated = await service.call('POST', `/api/v1/keys/${apiKeyId}/rotate`, {
    ...{ key, body: { graceSeconds: 3_600 } },
  });
  assert.equal(rotated.status, 201);
  for (const bucket of [apiKeyId, rotated.body.apiKeyId]) {
    const [window] = (await windows(keys.path, `?bucket=${bucket}`)).windows;
    assert.deepEqual([window.bucket, window.settledUSD], [apiKeyId, 4]);
  }
});

test('a cursor that no page had is refused', async () => {
  const { path } = await createBudget(service, key, { enabled: false, name: 'Cursors' });
  const starts = ['2026', '2026-02-30T00:00:00+00:00', '0000-01-01T00:00:00+00:00'];
  const texts = [...starts, '9999-99-99T99:99:99+00:00'].map((start) =>
    Buffer.from(JSON.stringify({ start, used: '1', bucket: '' })).toString('base64url'),
  );
  for (const cursor of ['x', ...texts, 'bnVsbA']) {
    const { status, body } = await service.call('GET', `${path}/windows?cursor=${cursor}`, { key });
    assert.equal(status, 400);
    assert.match(body.message, /"cursor" must be the nextCursor/);
  }
  assert.equal((await service.call('GET', `${path}/windows?bucket=%00`, { key })).status, 400);
});
