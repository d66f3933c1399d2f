import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type AgentOptions, addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const body = { variables: { name: 'x' } };

test('rejects a key without the permission, and writes no record', async () => {
  const agent = await addAgent(service);
  const { key } = await service.key({ permissions: ['read', 'cancel', 'manage'] });
  const { status, body: response } = await service.call('POST', `${agent.path}/execute`, {
    key,
    body,
  });
  assert.equal(status, 403);
  assert.equal(response.code, 'PERMISSION_DENIED');
});

const closed: [string, AgentOptions][] = [
  ['a draft', { stage: 'Draft' }],
  ['paused', { stage: 'Paused' }],
  ['archived', { stage: 'Testing', archived: true }],
  ['disabled', { stage: 'Deployed', apiEnabled: false }],
];
for (const [what, options] of closed) {
  test(`rejects an agent that is ${what} before it checks the body, and records it`, async () => {
    const agent = await addAgent(service, options);
    const { key } = await service.key();
    const { status, body: response } = await service.call('POST', `${agent.path}/execute`, {
      key,
      body: '{',
    });
    assert.equal(status, 403);
    assert.equal(response.code, 'AGENT_NOT_ACTIVE');
    const { rows } = await sql<Record<string, unknown>>`
      select status::text as status, error_code, latency_ms, attempts, model, cost_usd::float8 as cost
      from executions where agent_id = ${agent.id}`.execute(service.db);
    assert.deepEqual(rows, [
      {
        status: 'unauthorized',
        errorCode: 'AGENT_NOT_ACTIVE',
        latencyMs: 0,
        attempts: 0,
        model: 'cueline/echo',
        cost: 0,
      },
    ]);
  });
}

test('rejects a key where a session is required, whatever its Origin header', async () => {
  const { agentId } = await addAgent(service);
  const { key, id } = await service.key();
  const places: Record<string, string>[] = [
    { origin: service.url },
    { 'sec-fetch-site': 'same-origin' },
    {},
  ];
  for (const from of places) {
    const path = `/api/agents/${agentId}/execute`;
    const response = await service.call('POST', path, {
      key,
      body: { variables: {} },
      headers: from,
    });
    assert.deepEqual(
      [response.status, response.body.message],
      [403, 'This endpoint requires a session.'],
    );
  }
  const { rows } = await sql`select from executions where api_key_id = ${id}`.execute(service.db);
  assert.equal(rows.length, 0);
});
