import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { addRecords, dayMs, remainingIds } from '../../../../harness/records.ts';
import { runRetentionRound } from '../../../../harness/retention-round.ts';
import { startService } from '../../../../harness/service.ts';
import { toId } from '../../../../src/core/id.ts';

const service = await startService({ role: 'api' });
after(service.close);
const { db, call, workspaceId } = service;
const user = await service.member('owner');
const path = '/api/v1/retention';

test('the setting applies from the next round on, and is in the audit log', async () => {
  assert.deepEqual((await call('GET', path, { user })).body, { recordsDays: 90, bodiesDays: null });
  const { id: agentId } = await addAgent(service);
  const ago = (days: number) => Date.now() - days * dayMs;
  const ids = await addRecords(
    db,
    [5, 40].map((days) => ({ workspaceId, agentId, atMs: ago(days) })),
  );
  await runRetentionRound(db, service.database);
  assert.deepEqual(await remainingIds(db, ids), ids);

  const to = { recordsDays: 30, bodiesDays: 7 };
  const set = await call('PUT', path, { user, body: to });
  assert.equal(set.status, 200);
  assert.deepEqual(set.body, to);
  assert.deepEqual((await call('GET', path, { user })).body, to);
  await runRetentionRound(db, service.database);
  assert.deepEqual(await remainingIds(db, ids), [ids[0]]);

  const { body } = await call('GET', '/api/v1/audit', { user });
  const { action, subject, details } = body.audit[0];
  assert.deepEqual(
    { action, subject, details },
    {
      action: 'retention.change',
      subject: toId('workspace', workspaceId),
      details: { from: { recordsDays: 90, bodiesDays: null }, to },
    },
  );
});

test('null keeps records forever', async () => {
  const body = { recordsDays: null, bodiesDays: null };
  assert.deepEqual((await call('PUT', path, { user, body })).body, body);
});

test('per agent: null means the workspace’s setting, and only an owner may change it', async () => {
  const { path: agent } = await addAgent(service);
  const unset = { recordsDays: null, bodiesDays: null };
  assert.deepEqual((await call('GET', agent, { user })).body.retention, unset);
  const body = { retention: { recordsDays: 400 } };
  const changed = await call('PATCH', agent, { user, body });
  assert.deepEqual(changed.body.retention, { recordsDays: 400, bodiesDays: null });

  const editor = await service.member('editor');
  const refused = await call('PATCH', agent, { user: editor, body: { retention: unset } });
  assert.equal(refused.status, 403);
  assert.equal(refused.body.code, 'PERMISSION_DENIED');
  // A change without a difference needs no permission.
  assert.equal((await call('PATCH', agent, { user: editor, body })).status, 200);
});

test('an editor may disable the storage of bodies, only an owner may enable it', async () => {
  const { path: agent } = await addAgent(service);
  const editor = await service.member('editor');
  const off = { storeBodies: false };
  assert.equal((await call('PATCH', agent, { user: editor, body: off })).body.storeBodies, false);
  const on = { storeBodies: true };
  assert.equal((await call('PATCH', agent, { user: editor, body: on })).status, 403);
  assert.equal((await call('PATCH', agent, { user, body: on })).body.storeBodies, true);
});
