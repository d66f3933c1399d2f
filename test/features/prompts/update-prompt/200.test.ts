import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makePrompt } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);

test('changes only the sent fields', async () => {
  const { path } = await makePrompt(service, { user: 'x' });
  const { key } = await service.key();
  const patch = async (body: object) => (await service.call('PATCH', path, { key, body })).body;
  const described = await patch({ description: 'What it is for' });
  assert.deepEqual([described.name, described.description], ['Prompt', 'What it is for']);
  const named = await patch({ name: 'New' });
  assert.deepEqual([named.name, named.description], ['New', 'What it is for']);
  const cleared = await patch({ description: null });
  assert.deepEqual([cleared.name, cleared.description], ['New', null]);
  assert.equal(cleared.versionCount, 1);
  assert.ok(cleared.updatedAt >= cleared.createdAt);
});

test('a change updates the ETag, a change without a difference does not', async () => {
  const { path } = await makePrompt(service);
  const { key } = await service.key();
  const tag = async (body: object) =>
    (await service.call('PATCH', path, { key, body })).headers.get('etag');
  assert.equal(await tag({}), '"1"');
  assert.equal(await tag({ name: 'Prompt' }), '"1"');
  assert.equal(await tag({ name: 'Other' }), '"2"');
  assert.equal((await service.call('GET', path, { key })).headers.get('etag'), '"2"');
});
