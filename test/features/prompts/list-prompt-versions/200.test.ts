import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makePrompt } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);

test('newest first, without templates, in pages', async () => {
  const prompt = await makePrompt(service, { user: 'a' }, { user: 'b' }, { user: 'c {{x}}' });
  const { key } = await service.key();
  const page = async (query: string) =>
    (await service.call('GET', `${prompt.path}/versions${query}`, { key })).body;
  const all = await page('');
  assert.deepEqual(
    all.versions.map((one: { number: number }) => one.number),
    [3, 2, 1],
  );
  assert.deepEqual(all.pagination, { limit: 20, offset: 0, total: 3, hasMore: false });
  const [newest] = all.versions;
  assert.deepEqual([newest.promptVersionId, newest.variables], [prompt.versionIds[2], ['x']]);
  const middle = await page('?limit=1&offset=1');
  assert.deepEqual(middle.versions, [all.versions[1]]);
  assert.deepEqual(middle.pagination, { limit: 1, offset: 1, total: 3, hasMore: true });
});

test('empty without versions; an archived prompt lists its versions', async () => {
  const [none, archived] = [await makePrompt(service), await makePrompt(service, { user: 'x' })];
  const { key } = await service.key();
  await service.call('POST', `${archived.path}/archive`, { key });
  const count = async (path: string) =>
    (await service.call('GET', `${path}/versions`, { key })).body.versions.length;
  assert.deepEqual([await count(none.path), await count(archived.path)], [0, 1]);
});
