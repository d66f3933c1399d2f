import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makePrompt } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);

test('409 for an existing label, which uses no number', async () => {
  const { path } = await makePrompt(service, { user: 'x', label: 'mine' });
  const { key } = await service.key();
  const body = { user: 'y', label: 'mine' };
  const response = await service.call('POST', `${path}/versions`, { key, body });
  assert.deepEqual([response.status, response.body.code], [409, 'CONFLICT']);
  assert.match(response.body.message, /"mine"/);
  const next = await service.call('POST', `${path}/versions`, { key, body: { user: 'y' } });
  assert.deepEqual([next.body.number, next.body.promptVersionLabel], [2, 'v2']);
});

test('409 for an archived prompt, which stays unchanged', async () => {
  const { path } = await makePrompt(service, { user: 'x' });
  const { key } = await service.key();
  await service.call('POST', `${path}/archive`, { key });
  const before = await service.call('GET', path, { key });
  const response = await service.call('POST', `${path}/versions`, { key, body: { user: 'y' } });
  assert.deepEqual([response.status, response.body.code], [409, 'CONFLICT']);
  const now = await service.call('GET', path, { key });
  assert.deepEqual(now.body, before.body);
  assert.equal(now.headers.get('etag'), before.headers.get('etag'));
});

test('400 for placeholders that are too many or too long, which uses no number', async () => {
  const many = Array.from({ length: 201 }, (_, i) => `{{v${i}}}`).join('');
  const { path } = await makePrompt(service);
  const { key } = await service.key();
  for (const body of [{ user: many }, { user: `{{${'x'.repeat(101)}}}` }, { system: 'x' }]) {
    const response = await service.call('POST', `${path}/versions`, { key, body });
    assert.deepEqual([response.status, response.body.code], [400, 'INVALID_REQUEST']);
  }
  assert.equal((await service.call('GET', path, { key })).body.versionCount, 0);
});

test('200 placeholders of 100 characters are allowed', async () => {
  const { key } = await service.key();
  const names = Array.from({ length: 200 }, (_, i) => `v${i}`.padEnd(100, '_'));
  const half = (from: number) => names.slice(from, from + 100).map((name) => `{{${name}}}`);
  const body = { system: half(0).join(''), user: half(100).join('') };
  const other = await makePrompt(service);
  const created = await service.call('POST', `${other.path}/versions`, { key, body });
  assert.deepEqual(created.body.variables, names);
});
