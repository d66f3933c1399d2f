import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { fromId } from '../../../src/core/id.ts';
import { addAgent } from '../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../harness/made-workflows.ts';
import { startService } from '../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);
const { path } = await makeWorkflow(service, greeting(agent.agentId));

const started: string[] = [];
for (const name of ['a', 'b', 'c']) {
  const { body } = await service.call('POST', `${path}/execute`, {
    key,
    body: { input: { name } },
  });
  started.unshift(body.workflowRunId);
  await service.call('GET', `${body.statusUrl}?wait=30`, { key });
}

async function listed(query = '') {
  const { body } = await service.call('GET', `${path}/runs${query}`, { key });
  const ids = body.runs.map((one: { workflowRunId: string }) => one.workflowRunId);
  return { ...body, ids };
}

test('newest first, by pages and by cursor, with the exact total', async () => {
  const all = await listed();
  assert.deepEqual(all.ids, started);
  assert.deepEqual(all.pagination, { limit: 20, offset: 0, total: 3, hasMore: false });
  const first = await listed('?limit=2');
  assert.deepEqual([first.ids, first.pagination.total], [started.slice(0, 2), 3]);
  const second = await listed(`?limit=2&cursor=${first.nextCursor}`);
  assert.deepEqual([second.ids, second.nextCursor], [started.slice(2), undefined]);
  assert.deepEqual(second.pagination, { limit: 2, offset: 0, total: 3, hasMore: false });
  assert.deepEqual((await listed('?limit=1&offset=1')).ids, [started[1]]);
});

test('by status and trigger', async () => {
  assert.equal((await listed('?status=success&trigger=api')).pagination.total, 3);
  assert.equal((await listed('?status=failed')).pagination.total, 0);
  assert.equal((await listed('?trigger=schedule')).pagination.total, 0);
});

test('so many runs are counted, and no more', async () => {
  const { path: busy, workflowId } = await makeWorkflow(service, greeting(agent.agentId));
  const add = (count: number) =>
    sql`
    insert into workflow_runs (id, workspace_id, workflow_id, workflow_version_id, trigger, status, executed_at,
      completed_at, deadline_at, input)
    select gen_random_uuid(), workspace_id, id, workflow_version_id, 'schedule', 'success', clock_timestamp(),
      clock_timestamp(), clock_timestamp(), '{}'
    from workflows, generate_series(1, ${count}::int) where id = ${fromId('workflow', workflowId)}`.execute(
      service.db,
    );
  const page = async (query: string) =>
    (await service.call('GET', `${busy}/runs?${query}`, { key })).body;
  await add(10_000);
  const all = await page('limit=1');
  assert.deepEqual([all.pagination.total, all.totalIsExact], [10_000, true]);
  await add(5);
  const more = await page('limit=1');
  assert.deepEqual([more.pagination.total, more.totalIsExact], [10_000, false]);
  const last = await page('limit=10&offset=10000');
  assert.deepEqual([last.runs.length, last.pagination.hasMore], [5, false]);
  const none = await page('status=failed');
  assert.deepEqual([none.pagination.total, none.totalIsExact], [0, true]);
});

test('what cannot be asked, and what is not there', async () => {
  for (const query of ['?status=waiting', '?cursor=x', '?limit=0', '?offset=1&cursor=x', '?x=1']) {
    assert.equal((await service.call('GET', `${path}/runs${query}`, { key })).status, 400, query);
  }
  const none = await service.call('GET', `${path}/runs/wfr_none`, { key });
  assert.equal(none.status, 404);
  const user = await service.member('viewer');
  assert.equal((await service.call('GET', `${path}/runs`, { user })).status, 200);
});
