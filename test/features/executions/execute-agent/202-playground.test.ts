import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../../../harness/agents.ts';
import { addWorkspace } from '../../../../harness/people.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const user = service.ownerId;
const variables = { name: 'you' };

/** Executes with a key, or from a session. */
async function execute(
  agent: { path: string; agentId: string },
  body: object,
  options: { user?: string; headers?: Record<string, string> } = {},
) {
  const path = options.user ? `/api/agents/${agent.agentId}` : agent.path;
  const caller = options.user ? {} : { key };
  return service.call('POST', `${path}/execute`, {
    ...caller,
    ...options,
    body: { variables, ...body },
  });
}

for (const [caller, options] of [
  ['a session', { user }],
  ['a key', {}],
] as const) {
  test(`${caller} marks an execution, in progress and ended`, async () => {
    const agent = await addAgent(service);
    const held = service.models.hold();
    const { status, body } = await execute(agent, { playground: true }, options);
    assert.equal(status, 202);
    await held.arrived;
    const list = `${agent.path}/executions?playground=true&include=processing`;
    const source = caller === 'a key' ? 'api' : 'dashboard';
    const seen = async (state: string) => {
      const { body: record } = await service.call('GET', body.statusUrl, { key });
      const { body: page } = await service.call('GET', list, { key });
      for (const one of [record, page.executions[0]]) {
        assert.deepEqual([one.status, one.source, one.playground], [state, source, true]);
        assert.equal('apiKeyId' in one, source === 'api');
      }
    };
    await seen('processing');
    held.release();
    await ended(service, body.statusUrl, key);
    await seen('success');
  });
}

test('false counts as not sent', async () => {
  const agent = await addAgent(service);
  const accepted = await execute(agent, { playground: false });
  const record = await ended(service, accepted.body.statusUrl, key);
  assert.ok(!('playground' in record));
});

test('400 for any other value', async () => {
  const agent = await addAgent(service);
  for (const playground of ['true', 1, null, {}]) {
    const { status, body } = await execute(agent, { playground });
    assert.equal(status, 400);
    assert.equal(body.message, 'Field "playground" must be true or false.');
  }
});

test('a repeat with the same Idempotency-Key and another value is 422', async () => {
  const agent = await addAgent(service);
  const headers = { 'idempotency-key': 'mark' };
  const first = await execute(agent, { playground: true }, { headers });
  const again = await execute(agent, { playground: true }, { headers });
  assert.deepEqual([again.status, again.body.executionId], [202, first.body.executionId]);
  const other = await execute(agent, {}, { headers });
  assert.deepEqual([other.status, other.body.code], [422, 'IDEMPOTENCY_KEY_REUSED']);
  const unmarked = { 'idempotency-key': 'no mark' };
  await execute(agent, {}, { headers: unmarked });
  assert.equal((await execute(agent, { playground: false }, { headers: unmarked })).status, 202);
  const marked = await execute(agent, { playground: true }, { headers: unmarked });
  assert.equal(marked.status, 422);
});

test('the record of a refused call is marked', async () => {
  const agent = await addAgent(service, { rateLimits: { requestsPerDay: 0 } });
  assert.equal((await execute(agent, { playground: true })).status, 429);
  const { body } = await service.call('GET', `${agent.path}/executions?playground=true`, { key });
  const [record] = body.executions;
  assert.deepEqual(
    [record.status, record.playground, record.source],
    ['rate_limited', true, 'api'],
  );
  const { body: page } = await service.call('GET', `${agent.path}/executions`, { key });
  assert.equal(page.pagination.total, 0);
});

test('limits, quota and usage count it', async () => {
  const agent = await addAgent(service, { rateLimits: { requestsPerDay: 2 } });
  const used = async () =>
    (await service.call('GET', '/api/v1/usage', { user })).body.actionsUsed as number;
  const before = await used();
  for (const mark of [{}, { playground: true }]) {
    assert.equal((await execute(agent, mark)).status, 202);
  }
  assert.equal((await execute(agent, { playground: true })).status, 429);
  assert.equal(await used(), before + 2);
  const own = await addWorkspace(service.db);
  await sql`update workspaces set actions_per_month = 0 where id = ${own.workspaceId}`.execute(
    service.db,
  );
  const capped = await addAgent(service, {
    workspaceId: own.workspaceId,
    createdBy: own.ownerId,
  });
  const { status, body } = await execute(capped, { playground: true }, { user: own.ownerId });
  assert.deepEqual([status, body.code], [429, 'QUOTA_EXCEEDED']);
});

test('the view for BI tools shows it with the source of the API', async () => {
  const agent = await addAgent(service);
  for (const mark of [{}, { playground: true }]) {
    await ended(service, (await execute(agent, mark)).body.statusUrl, key);
  }
  const { rows } = await sql<{ source: string; playground: boolean }>`
    select source, playground from cueline_executions where agent_id = ${agent.id}
    order by executed_at`.execute(service.db);
  assert.deepEqual(rows, [
    { source: 'api', playground: false },
    { source: 'api', playground: true },
  ]);
});
