import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../../../harness/agents.ts';
import { jsonLines, resultsOf, upload } from '../../../../harness/batches.ts';
import { greeting, makeWorkflow } from '../../../../harness/created-workflows.ts';
import { addEndpoint } from '../../../../harness/endpoints.ts';
import { runRetentionRound } from '../../../../harness/retention-round.ts';
import { startService } from '../../../../harness/service.ts';
import { tablesWith } from '../../../../harness/tables-with.ts';
import { sql } from '../../../../src/db/sql.ts';
import { foldLabels } from '../../../../src/engine/complete/label-changes.ts';

/** Erasures by tag and by value of the metadata. */

const service = await startService({ config: { listPerMinute: 10_000 } });
after(service.close);
const { db, call } = service;
const { key } = await service.key();
const user = await service.member('owner');
const path = '/api/v1/erasures';

async function completed(erasure: object) {
  const { status, body } = await call('POST', path, { key, body: erasure });
  assert.equal(status, 202);
  for (;;) {
    await runRetentionRound(db, service.database);
    const { body: progress } = await call('GET', `${path}/${body.erasureId}`, { key });
    if (progress.status === 'completed') return progress;
  }
}

for (const [by, erasure, labels, group] of [
  ['tag', { tag: 'Zerlina' }, { tags: ['Zerlina', 'paid'] }, 'tag'],
  [
    'metadata',
    { metadata: { customer: 'Zerlina' } },
    { metadata: { customer: 'Zerlina', plan: 'pro' } },
    'metadata.customer',
  ],
] as const) {
  test(`by ${by}: records, runs, lines, views and events of the person go, and the statistics forget the value`, async () => {
    const agent = await addAgent(service);
    const workflow = await makeWorkflow(service, greeting(agent.agentId));
    const endpoint = await addEndpoint(service, key, {
      url: null,
      eventTypes: ['execution.succeeded', 'workflow_run.succeeded', 'batch.completed'],
    });
    const execute = async (more: object) => {
      const body = { variables: { name: 'x' }, ...more };
      const accepted = await call('POST', `${agent.path}/execute`, { key, body });
      return ended(service, accepted.body.statusUrl, key);
    };
    const counts = async () => {
      const query = `level=all&groupBy=${group}`;
      const { body } = await call('GET', `${agent.path}/statistics?${query}`, { key });
      return body.buckets.map((one: Record<string, unknown>) => [
        one[group],
        one.count,
        one.recorded,
      ]);
    };
    const others = by === 'tag' ? { tags: ['paid'] } : { metadata: { customer: 'Bob' } };
    await execute(labels);
    await foldLabels(db, 1_000);
    const gone = await execute(labels);
    await execute(others);
    // Its record is gone, but not its event.
    await sql`
      update events set subject = gen_random_uuid() where data::text like ${`%${gone.executionId}%`}`.execute(
      db,
    );
    await call('DELETE', `${agent.path}/executions/${gone.executionId}`, { key });
    const start = { key, body: { input: { name: 'x' }, ...labels } };
    const { body: started } = await call('POST', `${workflow.path}/execute`, start);
    await ended(service, started.statusUrl, key);
    const lines = [
      { id: 'hers', variables: { name: 'x' }, ...labels },
      { id: 'Zerlina refused', variables: { name: 7, unknown: 1 }, more: true },
      { id: 'bob', variables: { name: 'x' }, ...others },
    ];
    const { body: batch } = await upload(service, agent, jsonLines(lines), { key });
    await ended(service, batch.statusUrl, key);
    const search = new URLSearchParams(
      by === 'tag' ? { tag: 'Zerlina' } : { 'metadata.customer': 'Zerlina' },
    );
    const saved = [
      { name: 'One', search: String(search) },
      { name: 'Zerlina, failed', search: 'status=failed' },
      { name: 'Kept', search: 'status=failed' },
    ];
    const views = '/api/v1/me/views';
    assert.equal((await call('PUT', views, { user, body: { views: saved } })).status, 200);
    const schedule = { cron: '0 0 1 1 *', input: { name: 'x' }, ...labels };
    const { body: made } = await call('POST', `${workflow.path}/schedules`, {
      key,
      body: schedule,
    });

    const done = await completed(erasure);
    assert.deepEqual(
      [done.by, done.variable, done.metadata, done.deleted, done.schedules],
      [by, null, by === 'tag' ? null : 'customer', 3, [made.scheduleId]],
    );
    const { body: left } = await call('GET', `${agent.path}/executions`, { key });
    assert.equal(left.executions.length, 2);
    assert.equal((await call('GET', started.statusUrl, { key })).status, 404);
    const results = await resultsOf(service, batch.statusUrl, key);
    assert.deepEqual(
      results.map(({ line, id }) => [line, id]),
      [
        [1, null],
        [2, null],
        [3, 'bob'],
      ],
    );
    assert.deepEqual((await call('GET', views, { user })).body, { views: saved.slice(2) });
    // What occurred stays counted, without the value.
    const expected =
      by === 'tag'
        ? [['paid', 6, 2]]
        : [
            ['Bob', 2, 2],
            [undefined, 4, 0],
          ];
    assert.deepEqual(await counts(), expected);
    await foldLabels(db, 1_000);
    assert.deepEqual(await counts(), expected);

    await call('DELETE', `${workflow.path}/schedules/${made.scheduleId}`, { key });
    assert.deepEqual(await tablesWith(db, 'Zerlina'), []);
    const { body: audit } = await call('GET', `/api/v1/audit?subject=${done.erasureId}`, { key });
    assert.deepEqual(
      audit.audit.map(({ action, details }: Record<string, unknown>) => [action, details]),
      [
        ['erasure.complete', { deleted: 3 }],
        [
          'erasure.request',
          { ...(by === 'tag' ? { by } : { metadata: 'customer' }), agentId: null },
        ],
      ],
    );
    await endpoint.call('DELETE');
    await call('PUT', views, { user, body: { views: [] } });
  });
}

test('another name, another value or another agent is not erased', async () => {
  const [one, two] = [await addAgent(service), await addAgent(service)];
  const execute = async ({ path: at }: { path: string }, more: object) => {
    const body = { variables: { name: 'x' }, ...more };
    const accepted = await call('POST', `${at}/execute`, { key, body });
    return (await ended(service, accepted.body.statusUrl, key)).executionId;
  };
  const labels = { tags: ['T'], metadata: { a: 'V', b: 'W' } };
  const kept = [
    await execute(one, { tags: ['T2'], metadata: { a: 'W', b: 'V' } }),
    await execute(two, labels),
  ];
  await execute(one, labels);
  assert.equal((await completed({ metadata: { a: 'V' }, agentId: one.agentId })).deleted, 1);
  assert.equal((await completed({ tag: 'T', agentId: one.agentId })).deleted, 0);
  for (const [at, id] of [
    [one, kept[0]],
    [two, kept[1]],
  ] as const) {
    assert.equal((await call('GET', `${at.path}/executions/${id}`, { key })).status, 200);
  }
});

test('400 unless exactly one thing identifies the person', async () => {
  for (const body of [
    { user: 'a', tag: 'b' },
    { tag: 'a', metadata: { b: 'c' } },
    { tag: '' },
    { tag: 't'.repeat(65) },
    { metadata: {} },
    { metadata: { a: 'b', c: 'd' } },
    { metadata: { a: 7 } },
    { metadata: { 'a\nb': 7 } },
    { metadata: { a: 'v'.repeat(513) } },
    { metadata: { a: 'b' }, variable: 'c' },
    { tag: 'a\0' },
    { metadata: { 'a\0': 'b' } },
  ]) {
    const { status } = await call('POST', path, { key, body });
    assert.equal(status, 400, JSON.stringify(body));
  }
});

test('a process of an earlier version sees no erasure by label', async () => {
  const { workspaceId, ownerId } = await service.workspace();
  await call('POST', path, { user: ownerId, body: { tag: 'a' } });
  await call('POST', path, { user: ownerId, body: { user: 'a' } });
  // The statement of such a process.
  const { rows } = await sql`
    select id, workspace_id, agent_id, variable, value, requested_by, down_to, workflow_runs_down_to
    from erasures where completed_at is null and workspace_id = ${workspaceId} order by id`.execute(
    db,
  );
  assert.equal(rows.length, 1);
});
