import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';
import { toId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';
import { viewsMax } from '../../../../src/http/contract/contract-limits.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/me/views';
const failures = { name: 'Failures', search: 'status=failed,canceled&q=%22high%20tide%22' };
const all = { name: 'All', search: '' };

const get = (user: string) => service.call('GET', path, { user });
const put = (user: string, views: unknown, headers: Record<string, string> = {}) =>
  service.call('PUT', path, { user, body: { views }, headers });

test('every member has views of their own, viewers too, by name', async () => {
  const viewer = await service.member('viewer');
  assert.deepEqual((await get(viewer)).body, { views: [] });
  const { status, body } = await put(viewer, [failures, all]);
  assert.deepEqual([status, body], [200, { views: [all, failures] }]);
  assert.deepEqual((await get(viewer)).body, { views: [all, failures] });
  assert.deepEqual((await get(service.ownerId)).body, { views: [] });
  assert.deepEqual((await put(viewer, [])).body, { views: [] });
});

test('a replacement of what has changed since is 412 and changes nothing', async () => {
  const user = await service.member('editor');
  const etag = (await get(user)).headers.get('etag') ?? '';
  const first = await put(user, [failures], { 'if-match': etag });
  assert.equal(first.status, 200);
  const stale = await put(user, [all], { 'if-match': etag });
  assert.deepEqual([stale.status, stale.body.code], [412, 'STALE']);
  assert.deepEqual((await get(user)).body, { views: [failures] });
  const current = (await get(user)).headers.get('etag');
  assert.equal(current, first.headers.get('etag'));
  const both = await Promise.all(
    [[all], [failures, all]].map((views) => put(user, views, { 'if-match': current ?? '' })),
  );
  assert.deepEqual(both.map((one) => one.status).sort(), [200, 412]);
});

test('400 for invalid views', async () => {
  for (const views of [
    ...[null, {}, [{ name: 'A' }], [{ name: '', search: '' }], [{ name: 'A', search: 'a b' }]],
    [{ ...all, viewId: 'viw_1' }],
    [all, all],
    Array.from({ length: viewsMax + 1 }, (_, index) => ({ name: `${index}`, search: '' })),
  ]) {
    const { status, body } = await put(service.ownerId, views);
    assert.deepEqual([status, body.code], [400, 'INVALID_REQUEST'], JSON.stringify(views));
  }
});

test('views end with the membership', async () => {
  const user = await service.member('editor');
  assert.equal((await put(user, [all])).status, 200);
  const member = `/api/v1/members/${toId('user', user)}`;
  assert.equal((await service.call('DELETE', member, { user: service.ownerId })).status, 204);
  const { rows } = await sql`select from saved_views where user_id = ${user}`.execute(service.db);
  assert.equal(rows.length, 0);
});
