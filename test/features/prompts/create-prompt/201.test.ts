import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';
import { toId } from '../../../../src/core/id.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/prompts';

test('creates a prompt without versions, and returns its location', async () => {
  const { key } = await service.key();
  const body = { name: 'Greeting', description: 'Says hello' };
  const created = await service.call('POST', path, { key, body });
  assert.equal(created.status, 201);
  const { promptId, createdAt, ...rest } = created.body;
  assert.deepEqual(rest, {
    ...body,
    visibility: 'private',
    versionCount: 0,
    latestVersion: null,
    archived: false,
    updatedAt: rest.updatedAt,
    createdBy: toId('user', service.ownerId),
  });
  assert.equal(created.headers.get('location'), `${path}/${promptId}`);
  assert.equal(created.headers.get('etag'), '"1"');
  const read = await service.call('GET', `${path}/${promptId}`, { key });
  assert.deepEqual(read.body, created.body);
  assert.equal(read.headers.get('etag'), '"1"');
});

test('two prompts may have the same name; the description is optional', async () => {
  const { key } = await service.key();
  const body = { name: 'Same' };
  const first = await service.call('POST', path, { key, body });
  const second = await service.call('POST', path, { key, body: { ...body, description: null } });
  assert.deepEqual([first.body.description, second.body.description], [null, null]);
  assert.notEqual(first.body.promptId, second.body.promptId);
});

test('text is stored unchanged', async () => {
  const { key } = await service.key();
  const name = ` <b>"Ünï" 'cødé' \\ 👩‍🚀 {{x}} %s $1 `;
  for (const description of ['', `${name}\n`]) {
    const { body } = await service.call('POST', path, { key, body: { name, description } });
    assert.deepEqual([body.name, body.description], [name, description]);
  }
});

test('an editor’s session is accepted', async () => {
  const user = await service.member('editor');
  const { status, body } = await service.call('POST', path, { user, body: { name: 'Mine' } });
  assert.deepEqual([status, body.createdBy], [201, toId('user', user)]);
});
