import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../harness/service.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/me/dismissals';
const valid = { notice: 'firstSteps', days: null };

test('401 without a session, 403 with a key', async () => {
  assert.equal((await service.call('PUT', path, { body: valid })).status, 401);
  const { key } = await service.key();
  const response = await service.call('PUT', path, { key, body: valid });
  assert.deepEqual([response.status, response.body.code], [403, 'PERMISSION_DENIED']);
});

const bodies = [
  {},
  { notice: 'firstSteps' },
  { ...valid, notice: 'unknown' },
  { ...valid, days: -1 },
  { ...valid, days: 31 },
  { ...valid, days: 1.5 },
  { ...valid, more: 1 },
  // A risk can only be postponed.
  { notice: 'generatedPassword', days: null },
];
for (const body of bodies) {
  test(`400 for ${JSON.stringify(body)}`, async () => {
    const { cookie } = await service.signIn('viewer');
    const response = await service.call('PUT', path, { cookie, body });
    assert.deepEqual([response.status, response.body.code], [400, 'INVALID_REQUEST']);
  });
}
