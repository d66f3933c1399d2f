import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended, run, type TestAgent } from '../../../../harness/agents.ts';
import { countHistory } from '../../../../harness/records.ts';
import { startService } from '../../../../harness/service.ts';
import { ModelFailure } from '../../../../src/core/model/model-port.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { key } = await service.key({ rateLimits: { requestsPerMinute: null } });
const paths = (agent: TestAgent) => [
  `${agent.path}/executions`,
  `/api/agents/${agent.agentId}/executions`,
];

/** Rows with distinct times, because real ones would fall into one second. */
async function addRecords(agent: TestAgent, times: readonly string[], status = 'success') {
  for (const time of times) {
    await sql`
      insert into executions (id, workspace_id, agent_id, prompt_version_id, executed_at, completed_at, status, source,
        agent_name, prompt_version_label, model, error_code, error)
      select (lpad(to_hex((extract(epoch from ${time}::timestamptz) * 1000)::bigint), 12, '0') || '7000' ||
          '8' || substr(md5(random()::text), 1, 15))::uuid,
        ${service.workspaceId}, ${agent.id}, ${agent.id}, ${time}::timestamptz, ${time}::timestamptz,
        ${status}::execution_status, 'api', 'Agent', 'v1', 'cueline/echo',
        case when ${status} = 'success' then null else 'INTERNAL' end,
        case when ${status} = 'success' then null else 'x' end`.execute(service.db);
  }
  await countHistory(service.db);
}

test('both paths return the same: newest first, with exact totals', async () => {
  const agent = await addAgent(service);
  for (let i = 0; i < 5; i++) await run(service, agent, key, { name: String(i) });
  const [first, second] = await Promise.all(
    paths(agent).map((path) => service.call('GET', `${path}?limit=2`, { key })),
  );
  assert.equal(first?.status, 200);
  assert.deepEqual(first?.body, second?.body);
  assert.deepEqual(first?.body.pagination, { limit: 2, offset: 0, total: 5, hasMore: true });
  assert.deepEqual(
    first?.body.executions.map((one: { outputText: string }) => one.outputText),
    ['Hello 4', 'Hello 3'],
  );
  assert.match(first?.headers.get('ratelimit') ?? '', /r=\d+/);
  for (const one of first?.body.executions ?? []) {
    for (const field of ['systemPrompt', 'userPrompt', 'ipAddress', 'userAgent', 'output'])
      assert.ok(!(field in one), field);
  }
});

test('pages by offset and by cursor contain every record once', async () => {
  const agent = await addAgent(service);
  await addRecords(
    agent,
    Array.from({ length: 7 }, (_, i) => `2026-11-0${i + 1}T00:00:00Z`),
  );
  const byOffset: string[] = [];
  for (let offset = 0, more = true; more; offset += 3) {
    const { body } = await service.call(
      'GET',
      `${agent.path}/executions?limit=3&offset=${offset}`,
      { key },
    );
    byOffset.push(...body.executions.map((one: { executionId: string }) => one.executionId));
    more = body.pagination.hasMore;
  }
  const byCursor: string[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await service.call(
      'GET',
      `${agent.path}/executions?limit=3${cursor && `&cursor=${cursor}`}`,
      { key },
    );
    byCursor.push(...body.executions.map((one: { executionId: string }) => one.executionId));
    if (!body.pagination.hasMore) break;
    cursor = body.nextCursor;
  }
  assert.equal(new Set(byOffset).size, 7);
  assert.deepEqual(byCursor, byOffset);
  const beyond = await service.call('GET', `${agent.path}/executions?offset=100`, { key });
  assert.deepEqual(beyond.body.pagination, { limit: 20, offset: 100, total: 7, hasMore: false });
});

test('filters combine, and total counts the matches', async () => {
  const agent = await addAgent(service);
  await addRecords(agent, ['2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z']);
  await addRecords(agent, ['2026-11-01T12:00:00Z', '2026-11-03T00:00:00Z'], 'failed');
  const total = async (query: string) =>
    (await service.call('GET', `${agent.path}/executions?${query}`, { key })).body.pagination.total;
  assert.equal(await total(''), 4);
  assert.equal(await total('status=failed'), 2);
  assert.equal(await total('status=failed&endDate=2026-11-01'), 1);
  assert.equal(await total('source=dashboard'), 0);
  assert.equal(await total('status=success&source=api&startDate=2026-11-02'), 1);
});

test('both dates are inclusive; a date without a time is the whole day', async () => {
  const agent = await addAgent(service);
  const times = [
    '2026-11-20T23:59:59.999Z',
    '2026-11-21T00:00:00.000Z',
    '2026-11-21T23:59:59.999Z',
    '2026-11-22T00:00:00.000Z',
  ];
  await addRecords(agent, times);
  const found = async (query: string) =>
    (await service.call('GET', `${agent.path}/executions?${query}`, { key })).body.executions
      .map((one: { executedAt: string }) => times.indexOf(one.executedAt))
      .reverse();
  assert.deepEqual(await found('startDate=2026-11-21'), [1, 2, 3]);
  assert.deepEqual(await found('endDate=2026-11-21'), [0, 1, 2]);
  assert.deepEqual(await found('startDate=2026-11-21&endDate=2026-11-21'), [1, 2]);
  assert.deepEqual(
    await found('startDate=2026-11-21T23:59:59.999Z&endDate=2026-11-21T23:59:59.999Z'),
    [2],
  );
  assert.deepEqual(await found('startDate=2026-11-22T01:00:00%2B01:00'), [3]);
  assert.deepEqual(await found('startDate=2026-11-21T23:59:59.9991Z'), [3]);
});

test('processing executions are listed only with include', async () => {
  const agent = await addAgent(service);
  await run(service, agent, key);
  const heldCall = service.models.hold();
  const { body } = await service.call('POST', `${agent.path}/execute`, {
    key,
    body: { variables: { name: 'x' } },
  });
  await heldCall.arrived;
  const without = await service.call('GET', `${agent.path}/executions`, { key });
  assert.equal(without.body.pagination.total, 1);
  const all = await service.call('GET', `${agent.path}/executions?include=processing`, { key });
  assert.equal(all.body.pagination.total, 2);
  assert.equal(all.body.executions[0].status, 'processing');
  // It has neither latency nor cost yet, so no such filter matches it.
  for (const filter of ['latencyMsMin=0', 'costUSDMin=0', 'costUSDMax=0']) {
    const path = `${agent.path}/executions?include=processing&${filter}`;
    const { body: filtered } = await service.call('GET', path, { key });
    assert.equal(filtered.pagination.total, 1, filter);
    assert.equal(filtered.executions[0].status, 'success');
  }
  heldCall.release();
  await ended(service, body.statusUrl, key);
});

test('failures and refusals have error and code', async () => {
  const agent = await addAgent(service, { config: { maxAttempts: 1 } });
  service.models.script(new ModelFailure('PROVIDER_ERROR', 'It broke.'));
  await run(service, agent, key);
  const { key: expired } = await service.key({ expiresAt: new Date(0) });
  await service.call('POST', `${agent.path}/execute`, {
    key: expired,
    body: { variables: { name: 'x' } },
  });
  const { body } = await service.call('GET', `${agent.path}/executions`, { key });
  assert.deepEqual(
    body.executions.map((one: { status: string; errorCode: string }) => [
      one.status,
      one.errorCode,
    ]),
    [
      ['unauthorized', 'KEY_NOT_AUTHORIZED'],
      ['failed', 'PROVIDER_ERROR'],
    ],
  );
});
