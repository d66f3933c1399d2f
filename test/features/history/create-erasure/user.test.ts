import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../../harness/created-workflows.ts';
import { runRetentionRound } from '../../../../harness/retention-round.ts';
import { startService } from '../../../../harness/service.ts';
import { tablesWith } from '../../../../harness/tables-with.ts';
import { foldLabels } from '../../../../src/engine/complete/label-changes.ts';

const service = await startService({ config: { listPerMinute: 10_000 } });
after(service.close);
const { db, call } = service;
const { key } = await service.key();
const agent = await addAgent(service);
const workflow = await makeWorkflow(service, greeting(agent.agentId));
const round = () => runRetentionRound(db, service.database);
const path = '/api/v1/erasures';

async function execute(user: string | undefined, headers: Record<string, string> = {}) {
  const body = { variables: { name: 'x' }, tags: ['t'], ...(user !== undefined && { user }) };
  const accepted = await call('POST', `${agent.path}/execute`, { key, body, headers });
  return accepted.body;
}

async function counts(groupBy: string) {
  const query = `level=all&groupBy=${groupBy}`;
  const { body } = await call('GET', `${agent.path}/statistics?${query}`, { key });
  return body.buckets.map((one: Record<string, unknown>) => [
    one[groupBy],
    one.count,
    one.recorded,
  ]);
}

test('deletes the records of a user, and the statistics forget the name', async () => {
  for (const user of ['Ada', 'Ada', 'Bob', undefined]) {
    await ended(
      service,
      (await execute(user, { 'idempotency-key': crypto.randomUUID() })).statusUrl,
      key,
    );
  }
  await foldLabels(db, 1_000);
  await ended(service, (await execute('Ada')).statusUrl, key);
  const start = { key, body: { input: { name: 'x' }, user: 'Ada' } };
  const { body: started } = await call('POST', `${workflow.path}/execute`, start);
  for (;;) {
    const { body } = await call('GET', `${started.statusUrl}?wait=20`, { key });
    if (body.status !== 'processing') break;
  }
  const schedule = { cron: '0 0 1 1 *', input: { name: 'x' }, user: 'Ada' };
  const made = await call('POST', `${workflow.path}/schedules`, { key, body: schedule });
  const held = service.models.hold();
  const live = await execute('Ada');
  assert.deepEqual(await counts('user'), [
    ['Ada', 4, 4],
    ['Bob', 1, 1],
    [undefined, 1, 1],
  ]);

  const accepted = await call('POST', path, { key, body: { user: 'Ada' } });
  assert.equal(accepted.status, 202);
  assert.equal(accepted.body.variable, null);
  assert.deepEqual(accepted.body.schedules, [made.body.scheduleId]);
  const at = `${path}/${accepted.body.erasureId}`;
  await round();
  const waiting = await call('GET', at, { key });
  assert.deepEqual([waiting.body.status, waiting.body.waiting], ['processing', 1]);
  held.release();
  for (;;) {
    const { status, body } = await call('GET', `${live.statusUrl}?wait=20`, { key });
    if (status === 404 || body.status !== 'processing') break;
  }
  for (;;) {
    await round();
    const { body } = await call('GET', at, { key });
    if (body.status !== 'completed') continue;
    assert.equal(body.deleted, 5);
    break;
  }

  const { body: left } = await call('GET', '/api/v1/executions?include=processing', { key });
  assert.deepEqual(
    left.executions.map((one: { user?: string }) => one.user),
    [undefined, 'Bob'],
  );
  assert.equal((await call('GET', started.statusUrl, { key })).status, 404);
  assert.deepEqual(await counts('user'), [
    ['Bob', 1, 1],
    [undefined, 6, 1],
  ]);
  assert.deepEqual(await counts('tag'), [
    ['t', 6, 2],
    [undefined, 1, 0],
  ]);
  await foldLabels(db, 1_000);
  assert.deepEqual(await counts('user'), [
    ['Bob', 1, 1],
    [undefined, 6, 1],
  ]);
  await call('DELETE', `${workflow.path}/schedules/${made.body.scheduleId}`, { key });
  assert.deepEqual(await tablesWith(db, 'Ada'), []);
});

test('needs either a user, or a variable with its value', async () => {
  for (const body of [
    {},
    { user: 'a', variable: 'b', value: 'c' },
    { variable: 'b' },
    { value: 'c' },
    { user: 'u'.repeat(129) },
  ]) {
    const { status } = await call('POST', path, { key, body });
    assert.equal(status, 400, JSON.stringify(body));
  }
});
