import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { ModelFailure } from '../../../../src/core/model/model-port.ts';

const service = await startService({ config: { listPerMinute: 10_000 } });
after(service.close);
const { key } = await service.key();
const editorId = await service.member('editor');
const [open, hidden] = [
  await addAgent(service),
  await addAgent(service, { visibility: 'private' }),
];

async function say(agent: typeof open, labels: object, playground = false) {
  const { body } = await service.call('POST', `${agent.path}/execute`, {
    key,
    body: { variables: { name: 'x' }, playground, ...labels },
  });
  return (await ended(service, body.statusUrl, key)) as unknown as { executedAt: string };
}

async function sessions(query: string, as = key) {
  const { status, body } = await service.call('GET', `/api/v1/sessions${query}`, { key: as });
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

const names = (body: { sessions: { session: string }[] }) =>
  body.sessions.map(({ session }) => session);

const first = await say(open, { session: 's1', user: 'ann' });
await say(open, { session: 's2', user: 'bob' });
service.models.script(new ModelFailure('PROVIDER_AUTH', 'no'));
await say(hidden, { session: 's1', user: 'ann' });
await say(open, { user: 'ann' });
await say(open, { session: 'played' }, true);
await say(open, { session: 's3' });
const last = await say(open, { session: 's1', user: 'bob' });

test('each session once, the one with the newest record first, with its figures', async () => {
  const body = await sessions('');
  assert.deepEqual(names(body), ['s1', 's3', 's2']);
  assert.equal(body.nextCursor, undefined);
  const [newest, without] = body.sessions;
  assert.deepEqual(newest, {
    session: 's1',
    user: 'bob',
    executions: 3,
    firstAt: first.executedAt,
    lastAt: last.executedAt,
    costUSD: newest.costUSD,
    costKnown: newest.costKnown,
    failures: 1,
  });
  assert.equal(without.user, null);
});

test('pages by cursor contain each session once', async () => {
  const found: string[] = [];
  for (let cursor = ''; ; ) {
    const body = await sessions(`?limit=1${cursor && `&cursor=${cursor}`}`);
    found.push(...names(body));
    if (body.nextCursor === undefined) break;
    cursor = body.nextCursor;
  }
  assert.deepEqual(found, ['s1', 's3', 's2']);
});

test('only records that match and that the caller can see count', async () => {
  const ann = await sessions('?user=ann');
  assert.deepEqual(names(ann), ['s1']);
  assert.equal(ann.sessions[0].executions, 2);
  const ofHidden = await sessions(`?agentId=${hidden.agentId}`);
  assert.deepEqual(names(ofHidden), ['s1']);
  assert.equal(ofHidden.sessions[0].executions, 1);
  const editors = await service.key({ userId: editorId });
  const seen = await sessions('', editors.key);
  assert.deepEqual([seen.sessions[0].executions, seen.sessions[0].failures], [2, 0]);
  assert.deepEqual(await sessions('?user=nobody'), { sessions: [] });
  const elsewhere = await service.workspace();
  const stranger = await service.key({ ...elsewhere, userId: elsewhere.ownerId });
  assert.deepEqual(await sessions('', stranger.key), { sessions: [] });
});

test('rejects a cursor that is none, and fields it does not know', async () => {
  for (const query of ['?cursor=x', '?limit=0', '?status=failed']) {
    const { status } = await service.call('GET', `/api/v1/sessions${query}`, { key });
    assert.equal(status, 400, query);
  }
});
