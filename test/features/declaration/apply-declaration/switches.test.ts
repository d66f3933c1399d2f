import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const path = '/api/v1/declaration';

/** Settings outside stage and definition: the API switch and the storage of bodies. */

const versions = [{ label: 'v1', user: 'x', model: 'cueline/echo' }];
const declared = (more: object) => ({
  prompts: [{ name: 'P', visibility: 'public', versions }],
  agents: [{ name: 'A', prompt: 'P', version: 'v1', ...more }],
  workflows: [],
});

async function apply(more: object, with_ = key) {
  const body = { declaration: declared(more) };
  return service.call('POST', path, { key: with_, body });
}

const changed = ({ body }: { body: { changes: Record<string, unknown>[] } }) =>
  body.changes.map(({ field, from, to }) => [field, from, to]);

async function switches(with_ = key) {
  const { agents } = (await service.call('GET', '/api/v1/agents', { key: with_ })).body;
  const { apiEnabled, storeBodies, status } = agents[0];
  return [status, apiEnabled, storeBodies];
}

test('a switched-off setting is read, created elsewhere and reported', async () => {
  const off = { apiEnabled: false, storeBodies: false };
  await apply({ stage: 'Deployed', ...off });
  assert.deepEqual(await switches(), ['Deployed', false, false]);
  assert.deepEqual(changed(await apply({ stage: 'Deployed', ...off })), []);
  const { declaration } = (await service.call('GET', path, { key })).body;
  assert.deepEqual(declaration, declared({ stage: 'Deployed', ...off }));

  const { workspaceId, ownerId: userId } = await service.workspace();
  const there = await service.key({ workspaceId, userId });
  await service.call('POST', path, { key: there.key, body: { declaration } });
  assert.deepEqual(await switches(there.key), ['Deployed', false, false]);

  assert.deepEqual(changed(await apply({})), [
    ['storeBodies', false, true],
    ['apiEnabled', false, true],
  ]);
  assert.deepEqual(await switches(), ['Deployed', true, true]);
  const read = (await service.call('GET', path, { key })).body.declaration;
  assert.deepEqual(read, declared({ stage: 'Deployed' }));
});

test('a stage change switches the API on, and the declaration switches it off again', async () => {
  const agent = await apply({ stage: 'Testing', apiEnabled: false });
  assert.deepEqual(changed(agent), [
    ['stage', 'Deployed', 'Testing'],
    ['apiEnabled', true, false],
  ]);
  assert.deepEqual(changed(await apply({ stage: 'Deployed', apiEnabled: false })), [
    ['stage', 'Testing', 'Deployed'],
    ['apiEnabled', true, false],
  ]);
  assert.deepEqual(await switches(), ['Deployed', false, true]);
});

test('a stage that rejects executions ignores the API switch', async () => {
  for (const apiEnabled of [true, false]) {
    await apply({ stage: 'Paused', apiEnabled });
    assert.deepEqual(changed(await apply({ apiEnabled })), []);
    const { declaration } = (await service.call('GET', path, { key })).body;
    assert.deepEqual(declaration, declared({ stage: 'Paused' }));
  }
});

test('only an owner can switch the storage of bodies on', async () => {
  await apply({ storeBodies: false, visibility: 'public' });
  const userId = await service.member('editor');
  const editor = await service.key({ userId });
  const refused = await apply({ visibility: 'public' }, editor.key);
  assert.deepEqual([refused.status, refused.body.code], [403, 'PERMISSION_DENIED']);
  assert.match(refused.body.message, /^The agent "A": Only an owner/);
});
