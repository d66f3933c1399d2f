import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../../harness/created-workflows.ts';
import { freshId } from '../../../../harness/fresh-id.ts';
import { startService } from '../../../../harness/service.ts';
import { fromId, toId, uuid7 } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';

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

test('newest first, by offset and by cursor, with the exact total', async () => {
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

test('the total is limited', async () => {
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

test('a key lists only the runs of versions that it can see', async () => {
  const { path: mixed, workflowId } = await makeWorkflow(service, greeting(agent.agentId));
  const other = await addAgent(service);
  const hidden = freshId();
  await sql`
    insert into workflow_versions (id, workflow_id, workspace_id, number, label, definition, agent_ids)
    select ${hidden}, workflow_id, workspace_id, 2, 'v2', definition, agent_ids || ${other.id}::uuid
    from workflow_versions where workflow_id = ${fromId('workflow', workflowId)}`.execute(
    service.db,
  );
  // Every third is hidden, every second failed, every fourth has no bodies.
  const ids = Array.from({ length: 24 }, (_, n) => uuid7(Date.now() + n));
  await sql`
    insert into workflow_runs (id, workspace_id, workflow_id, workflow_version_id, trigger, status, executed_at,
      completed_at, deadline_at, input, bodies, error_code, error)
    select r.id, workspace_id, w.id, case when n % 3 = 0 then ${hidden} else workflow_version_id end, 'schedule',
      case when n % 2 = 0 then 'failed' else 'success' end, now(), now(), now(),
      case when n % 4 > 0 then '{}'::json end, case when n % 4 > 0 then 'stored' else 'removed' end,
      case when n % 2 = 0 then 'STEP_FAILED' end, case when n % 2 = 0 then 'x' end
    from workflows w, unnest(${ids}::uuid[]) with ordinality as r (id, n)
    where w.id = ${fromId('workflow', workflowId)}`.execute(service.db);
  const { key: tied } = await service.key({ agentIds: [agent.agentId] });
  const newestFirst = (which: (n: number) => boolean) =>
    ids.flatMap((id, at) => (which(at + 1) ? toId('workflowRun', id) : [])).toReversed();
  const page = async (query: string) => {
    const { body } = await service.call('GET', `${mixed}/runs${query}`, { key: tied });
    const listed = body.runs.map((one: { workflowRunId: string }) => one.workflowRunId);
    return { ids: listed, total: body.pagination.total, nextCursor: body.nextCursor };
  };
  const seen = newestFirst((n) => n % 3 > 0);
  const first = await page('?limit=7');
  assert.deepEqual([first.ids, first.total], [seen.slice(0, 7), 16]);
  const second = await page(`?limit=7&cursor=${first.nextCursor}`);
  assert.deepEqual([second.ids, second.total], [seen.slice(7, 14), 16]);
  assert.deepEqual((await page('?limit=7&offset=12')).ids, seen.slice(12));
  const failed = newestFirst((n) => n % 3 > 0 && n % 2 === 0);
  const some = await page('?status=failed&trigger=schedule&limit=3&offset=4');
  assert.deepEqual([some.ids, some.total], [failed.slice(4, 7), 8]);
  assert.equal((await page('?trigger=api')).total, 0);
});

test('400 for invalid parameters, 404 for an unknown workflow', async () => {
  for (const query of ['?status=waiting', '?cursor=x', '?limit=0', '?offset=1&cursor=x', '?x=1']) {
    assert.equal((await service.call('GET', `${path}/runs${query}`, { key })).status, 400, query);
  }
  const none = await service.call('GET', `${path}/runs/wfr_none`, { key });
  assert.equal(none.status, 404);
  const user = await service.member('viewer');
  assert.equal((await service.call('GET', `${path}/runs`, { user })).status, 200);
});
