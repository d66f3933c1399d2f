import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();

async function patch(path: string, tag: string, body: object = { agentName: 'New' }) {
  return service.call('PATCH', path, { key, body, headers: { 'if-match': tag } });
}

test('one of many concurrent edits of the same revision succeeds', async () => {
  const { path } = await addAgent(service);
  const tag = (await service.call('GET', path, { key })).headers.get('etag') ?? '';
  const responses = await Promise.all(
    Array.from({ length: 10 }, (_, i) => patch(path, tag, { agentName: `by ${i}` })),
  );
  const through = responses.filter(({ status }) => status === 200);
  assert.equal(through.length, 1);
  const others = responses.filter(({ status }) => status !== 200);
  for (const { status, body } of others) assert.deepEqual([status, body.code], [412, 'STALE']);
  const read = await service.call('GET', path, { key });
  assert.equal(read.body.agentName, through[0]?.body.agentName);
  assert.equal(read.headers.get('etag'), through[0]?.headers.get('etag'));
});

test('a stage change also changes the revision', async () => {
  const { path } = await addAgent(service, { stage: 'Draft' });
  await service.call('POST', `${path}/lifecycle`, { key, body: { action: 'enable-api' } });
  assert.equal((await patch(path, '"1"')).status, 412);
  assert.equal((await patch(path, '"2"')).status, 200);
});

const tags: [tag: string, status: number][] = [
  ['"1"', 200],
  ['*', 200],
  [' * ', 200],
  ['"0", "1"', 200],
  ['"x,y" ,,\t"1",', 200],
  ['W/"1"', 412],
  ['"2"', 412],
  ['"01"', 412],
  ['""', 412],
  ['"2", W/"1"', 412],
  ['1', 400],
  ['"1', 400],
  ['w/"1"', 400],
  ['"1" "2"', 400],
  ['*, "1"', 400],
  [',', 412],
];
for (const [tag, status] of tags) {
  test(`If-Match: ${tag} is ${status}`, async () => {
    const { path } = await addAgent(service);
    const response = await patch(path, tag);
    assert.equal(response.status, status);
    if (status === 412) assert.equal(response.body.code, 'STALE');
    if (status === 400) assert.match(response.body.message, /If-Match/);
  });
}

test('404 and 400 take precedence over the tag', async () => {
  const { path } = await addAgent(service);
  const unknown = '/api/v1/agents/agt_01jd0000000000000000000000';
  assert.equal((await patch(unknown, '"9"')).status, 404);
  assert.equal((await patch(path, '"9"', { agentName: '' })).status, 400);
  assert.equal((await patch(path, '"9"', { apiEnabled: true })).status, 412);
});
