import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../../harness/created-workflows.ts';
import { addPlainRecords, addRecords, remainingIds } from '../../../../harness/records.ts';
import { runRetentionRound } from '../../../../harness/retention-round.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { db, call, workspaceId } = service;
const user = await service.member('owner');
const path = '/api/v1/erasures';

async function preview(body: object) {
  const { status, body: found } = await call('POST', `${path}/preview`, { user, body });
  assert.equal(status, 200);
  return found;
}

const nothing = { records: 0, isLowerBound: false, from: null, to: null };

test('says how many records from when to when, and deletes none', async () => {
  const [one, two] = [await addAgent(service), await addAgent(service)];
  const times = [
    '2026-01-02T03:04:05.678Z',
    '2026-03-04T05:06:07.008Z',
    '2026-05-06T07:08:09.010Z',
  ];
  const variables = '{"customer":"c-many"}';
  const ids = await addRecords(
    db,
    times.map((at, n) => ({
      ...{ workspaceId, atMs: Date.parse(at), variables },
      agentId: n === 2 ? two.id : one.id,
    })),
  );
  await addRecords(db, [{ workspaceId, agentId: one.id, atMs: Date.parse(times[0] ?? '') }]);
  const erased = { variable: 'customer', value: 'c-many' };
  const all = { records: 3, isLowerBound: false, from: times[0], to: times[2] };
  assert.deepEqual(await preview(erased), all);
  const ofOne = await preview({ ...erased, agentId: one.agentId });
  assert.deepEqual(ofOne, { ...all, records: 2, to: times[1] });
  assert.deepEqual(await remainingIds(db, ids), ids);
  assert.deepEqual(await preview({ ...erased, value: 'c-none' }), nothing);
});

test('finds users, tags and metadata', async () => {
  const agent = await addAgent(service);
  const { key } = await service.key();
  const labels = { user: 'ada', tags: ['gold'], metadata: { plan: 'pro' } };
  const body = { variables: { name: 'x' }, ...labels };
  const accepted = await call('POST', `${agent.path}/execute`, { key, body });
  await ended(service, accepted.body.statusUrl, key);
  for (const erased of [{ user: 'ada' }, { tag: 'gold' }, { metadata: { plan: 'pro' } }]) {
    assert.equal((await preview(erased)).records, 1, JSON.stringify(erased));
  }
  assert.deepEqual(await preview({ user: 'gold' }), nothing);
});

test('counts as many as an erasure deletes, with whole workflow runs', async () => {
  const agent = await addAgent(service);
  const workflow = await makeWorkflow(service, {
    input: { required: ['name', 'other'] },
    steps: [
      ...greeting(agent.agentId).steps,
      { name: 'second', agentId: agent.agentId, variables: { name: '{{input.other}}' } },
    ],
  });
  const { key } = await service.key();
  const input = { name: 'Grace', other: 'nobody' };
  const started = await call('POST', `${workflow.path}/execute`, { key, body: { input } });
  await ended(service, started.body.statusUrl, key);
  const erased = { variable: 'name', value: 'Grace' };
  const { records } = await preview(erased);
  assert.equal(records, 2);
  const { body } = await call('POST', path, { user, body: erased });
  await runRetentionRound(db, service.database);
  const done = await call('GET', `${path}/${body.erasureId}`, { user });
  assert.deepEqual([done.body.status, done.body.deleted], ['completed', records]);
});

test('a busy server does not hide the records of a quiet workspace', async () => {
  const agent = await addAgent(service);
  const [atMs, laterMs] = [Date.parse('2026-01-02T03:04:05Z'), Date.parse('2026-01-03T03:04:05Z')];
  const labels = { tags: ['quiet'], metadata: { plan: 'quiet' } };
  const [id] = await addRecords(db, [
    { workspaceId, agentId: agent.id, atMs, variables: '{"customer":"c-quiet"}' },
  ]);
  await sql`update executions set tags = ${labels.tags}, metadata = ${JSON.stringify(labels.metadata)}::json
    where id = ${id}`.execute(db);
  const other = await service.workspace();
  const busy = await addAgent(service, { ...other, createdBy: other.ownerId });
  await addPlainRecords(db, 100_000, {
    workspaceId: other.workspaceId,
    agentId: busy.id,
    atMs: laterMs,
  });
  const found = { records: 1, isLowerBound: false };
  for (const erased of [
    { variable: 'customer', value: 'c-quiet' },
    { tag: 'quiet' },
    { metadata: labels.metadata },
  ]) {
    const { records, isLowerBound } = await preview(erased);
    assert.deepEqual({ records, isLowerBound }, found, JSON.stringify(erased));
  }
  // The same number in the workspace itself: then the old record is left to the erasure.
  await addPlainRecords(db, 100_000, { workspaceId, agentId: agent.id, atMs: laterMs });
  assert.deepEqual(await preview({ tag: 'quiet' }), { ...nothing, isLowerBound: true });
});

test('an agent that the caller does not see is not found, and the value is checked', async () => {
  const refused = async (body: object) =>
    (await call('POST', `${path}/preview`, { user, body })).status;
  assert.equal(await refused({ user: 'ada', agentId: 'agt_unknown' }), 404);
  assert.equal(await refused({ user: 'ada', tag: 'gold' }), 400);
  assert.equal(await refused({}), 400);
});
