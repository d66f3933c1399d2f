import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';

/** Resources without an `ETag`. `update-agent/412.test.ts` has those with one. */

const service = await startService();
after(service.close);
const { key, apiKeyId } = await service.key();
const path = `/api/v1/keys/${apiKeyId}`;
const body = { name: 'New' };

const tags: [tag: string, status: number][] = [
  ['*', 200],
  ['"1"', 412],
  ['W/"1"', 412],
  ['1', 400],
];
for (const [tag, status] of tags) {
  test(`If-Match: ${tag} is ${status}`, async () => {
    const headers = { 'if-match': tag };
    assert.equal((await service.call('PATCH', path, { key, body, headers })).status, status);
  });
}

test('invalid fields take precedence', async () => {
  const headers = { 'if-match': '"1"' };
  const response = await service.call('PATCH', path, { key, body: { name: '' }, headers });
  assert.equal(response.status, 400);
});
