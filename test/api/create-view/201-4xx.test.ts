import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../harness/service.ts';
import { viewsMax } from '../../../src/contract/limits.ts';
import { idPattern } from '../../../src/core/id.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/views';
const search = 'status=failed,canceled&period=yesterday&q=%22high%20tide%22';

test('every member saves views of their own, viewers too', async () => {
  const [viewer, owner] = [await service.member('viewer'), service.ownerId];
  const created = await service.call('POST', path, {
    user: viewer,
    body: { name: 'Fails', search },
  });
  assert.equal(created.status, 201);
  const { viewId, createdAt, ...rest } = created.body;
  assert.match(viewId, new RegExp(idPattern('view')));
  assert.ok(Date.parse(createdAt) > 0);
  assert.deepEqual(rest, { name: 'Fails', search });
  const empty = { name: 'A first', search: '' };
  await service.call('POST', path, { user: viewer, body: empty });
  const listed = await service.call('GET', path, { user: viewer });
  assert.deepEqual(
    listed.body.views.map((view: { name: string }) => view.name),
    ['A first', 'Fails'],
  );
  assert.deepEqual((await service.call('GET', path, { user: owner })).body, { views: [] });
});

test('409 for a name that the user has, and for too many views', async () => {
  const user = await service.member('editor');
  const save = (name: string) => service.call('POST', path, { user, body: { name, search } });
  const made = await Promise.all(Array.from({ length: 5 }, () => save('Same')));
  assert.deepEqual(made.map(({ status }) => status).sort(), [201, 409, 409, 409, 409]);
  const statuses: number[] = [];
  // A few at once: a slow machine answers fifty with 503.
  for (let number = 0; number < viewsMax; number += 5) {
    const five = Array.from({ length: 5 }, (_, at) => save(`View ${number + at}`));
    statuses.push(...(await Promise.all(five)).map(({ status }) => status));
  }
  assert.equal(statuses.filter((status) => status === 201).length, viewsMax - 1);
  const { body } = await save('One more');
  assert.deepEqual(
    [body.code, body.message],
    ['CONFLICT', `You already have ${viewsMax} views. Delete one first.`],
  );
});

test('400 for invalid fields', async () => {
  const user = service.ownerId;
  for (const body of [
    {},
    { name: '', search },
    { name: 'A', search: 'a b' },
    { name: 'A', search: 7 },
  ]) {
    assert.equal((await service.call('POST', path, { user, body })).status, 400);
  }
});
