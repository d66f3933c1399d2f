import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../harness/service.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/me';

test('401 without a session, 403 with a key', async () => {
  assert.equal((await service.call('GET', path)).status, 401);
  assert.equal((await service.call('GET', path, { cookie: 'other=1' })).status, 401);
  const { key } = await service.key();
  const response = await service.call('GET', path, { key });
  assert.deepEqual([response.status, response.body.code], [403, 'PERMISSION_DENIED']);
});

test('an invalid key is rejected despite a valid session', async () => {
  const { cookie } = await service.signIn();
  const headers = { authorization: 'Bearer cue_nonsense' };
  assert.equal((await service.call('GET', path, { cookie, headers })).status, 401);
});

test('400 for an unknown query parameter', async () => {
  const { cookie } = await service.signIn();
  assert.equal((await service.call('GET', `${path}?x=1`, { cookie })).status, 400);
});
