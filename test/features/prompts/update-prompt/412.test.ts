import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makePrompt } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);

test('one of many concurrent edits of the same revision succeeds', async () => {
  const { path } = await makePrompt(service);
  const { key } = await service.key();
  const tag = (await service.call('GET', path, { key })).headers.get('etag') ?? '';
  const names = Array.from({ length: 8 }, (_, i) => `by ${i}`);
  const responses = await Promise.all(
    names.map((name) =>
      service.call('PATCH', path, { key, body: { name }, headers: { 'if-match': tag } }),
    ),
  );
  const through = responses.filter(({ status }) => status === 200);
  assert.equal(through.length, 1);
  const others = responses.filter(({ status }) => status !== 200);
  for (const { status, body } of others) assert.deepEqual([status, body.code], [412, 'STALE']);
  const read = await service.call('GET', path, { key });
  assert.equal(read.body.name, through[0]?.body.name);
  assert.equal(read.headers.get('etag'), through[0]?.headers.get('etag'));
});

test('a version that was added since counts as a change', async () => {
  const { path } = await makePrompt(service);
  const { key } = await service.key();
  await service.call('POST', `${path}/versions`, { key, body: { user: 'x' } });
  const stale = { key, body: { name: 'P' }, headers: { 'if-match': '"1"' } };
  assert.equal((await service.call('PATCH', path, stale)).status, 412);
});
