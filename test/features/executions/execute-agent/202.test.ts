import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended, run } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { ModelFailure } from '../../../../src/core/model/model-port.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService({ config: { trustedProxies: ['127.0.0.1'] } });
after(service.close);
const { key, apiKeyId } = await service.key();
const agent = await addAgent(service, {
  system: 'Be {{ tone }}.',
  user: 'About {{topic}}: {{detail}}',
  requiredVariables: ['topic'],
  optionalVariables: ['detail'],
  defaultVariableValues: { tone: 'brief' },
});

test('returns the id and the status URL at once', async () => {
  const heldCall = service.models.hold();
  const { status, body, headers } = await service.call('POST', `${agent.path}/execute`, {
    key,
    body: { variables: { topic: 'tides', other: 1 } },
  });
  assert.equal(status, 202);
  assert.equal(body.success, true);
  assert.equal(body.status, 'processing');
  assert.equal(body.agentId, agent.agentId);
  assert.equal(body.agentName, 'Agent');
  assert.equal(body.statusUrl, `${agent.path}/executions/${body.executionId}`);
  assert.equal(headers.get('location'), body.statusUrl);
  assert.deepEqual(body.ignoredVariables, ['other']);
  heldCall.release();
  await ended(service, body.statusUrl, key);
});

test('records the caller address, from a proxy header only if it is an address', async () => {
  for (const [forwarded, ipAddress] of [
    ['198.51.100.1, 203.0.113.9:5123', '203.0.113.9'],
    [`<script>${'x'.repeat(2_000)}</script>`, '127.0.0.1'],
  ] as const) {
    const headers = { 'x-forwarded-for': forwarded };
    const body = { variables: { topic: 'tides' } };
    const sent = { key, body, headers };
    const { body: accepted } = await service.call('POST', `${agent.path}/execute`, sent);
    const record = await ended(service, accepted.statusUrl, key);
    assert.equal(record.ipAddress, ipAddress);
  }
});

test('substitutes values, defaults and empty strings, and records the execution', async () => {
  const record = await run(service, agent, key, { topic: '{{detail}}', tone: null });
  assert.equal(record.status, 'success');
  assert.equal(record.systemPrompt, 'Be brief.');
  assert.equal(record.userPrompt, 'About {{detail}}: ');
  assert.equal(record.output, 'About {{detail}}: ');
  assert.equal(record.outputText, record.output);
  assert.deepEqual(record.inputVariables, { topic: '{{detail}}', tone: null });
  assert.equal(record.source, 'api');
  assert.equal(record.apiKeyId, apiKeyId);
  assert.equal(record.tokensUsed, 15);
  assert.equal(record.costKnown, true);
  assert.equal(record.attempts, 1);
  assert.equal(record.finishReason, 'stop');
  assert.ok(record.startedAt >= record.executedAt && record.completedAt >= record.startedAt);
  assert.equal(record.queuedAt, record.executedAt);
});

test('the last of two equal names counts, even if it is null', async () => {
  const { body } = await service.call('POST', `${agent.path}/execute`, {
    key,
    body: '{"variables":{"tone":"loud","topic":"x","detail":"y","topic":"tides","detail":null,"tone":null}}',
  });
  const record = await ended(service, body.statusUrl, key);
  assert.equal(record.systemPrompt, 'Be brief.');
  assert.equal(record.userPrompt, 'About tides: ');
});

test('stores the variables unchanged', async () => {
  const variables = '{"topic":{"2":1.0,"1":12345678901234567890,"__proto__":[]},"detail":1e3}';
  const { body } = await service.call('POST', `${agent.path}/execute`, {
    key,
    body: `{ "variables": ${variables.replaceAll(':', ' : ')} }`,
  });
  const record = await ended(service, body.statusUrl, key);
  assert.equal(record.userPrompt, 'About {"2":1.0,"1":12345678901234567890,"__proto__":[]}: 1e3');
  const raw = await fetch(service.url + body.statusUrl, {
    headers: { authorization: `Bearer ${key}` },
  });
  assert.ok((await raw.text()).includes(`"inputVariables":${variables}`));
});

test('every response shows the limits of the key', async () => {
  const { key: fresh } = await service.key({ rateLimits: { requestsPerMinute: 7 } });
  const body = { variables: { topic: 'x' } };
  const { headers } = await service.call('POST', `${agent.path}/execute`, { key: fresh, body });
  assert.equal(headers.get('x-ratelimit-limit'), '7');
  assert.equal(headers.get('x-ratelimit-remaining'), '6');
  assert.match(headers.get('ratelimit') ?? '', /^"key-minute";r=6;t=\d+$/);
  assert.match(
    headers.get('ratelimit-policy') ?? '',
    /^"key-minute";q=7;w=60, "key-hour";q=5000;w=3600, /,
  );
});

test('concurrent requests with the same Idempotency-Key and variables are one execution', async () => {
  const { key: fresh } = await service.key();
  const send = (body: string) =>
    service.call('POST', `${agent.path}/execute`, {
      key: fresh,
      body,
      headers: { 'idempotency-key': 'once' },
    });
  const bodies = [
    '{"variables":{"topic":"x","detail":1}}',
    '{"variables":{"detail":1.0, "topic":"x"}}',
  ];
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, index) => send(bodies[index % 2] ?? '')),
  );
  assert.deepEqual([...new Set(responses.map(({ status }) => status))], [202]);
  assert.equal(new Set(responses.map(({ body }) => body.executionId)).size, 1);
  assert.equal(
    responses.filter(({ headers }) => headers.get('idempotent-replayed') === 'true').length,
    19,
  );
  await ended(service, responses[0]?.body.statusUrl, fresh);
  const again = await send(bodies[0] ?? '');
  assert.equal(again.body.executionId, responses[0]?.body.executionId);
});

test('a replay keeps the first 202 and adds the current status', async () => {
  const { key: fresh } = await service.key({ permissions: ['execute', 'read', 'manage'] });
  const execute = () =>
    service.call('POST', `${agent.path}/execute`, {
      key: fresh,
      body: { variables: { topic: 'x' } },
      headers: { 'idempotency-key': 'current' },
    });
  const held = service.models.hold();
  const first = await execute();
  assert.ok(!('currentStatus' in first.body));
  await held.arrived;
  const waiting = await execute();
  assert.deepEqual(waiting.body, { ...first.body, currentStatus: 'processing' });
  held.release(new ModelFailure('PROVIDER_AUTH', 'No.'));
  const record = await ended(service, first.body.statusUrl, fresh);
  assert.equal(record.status, 'failed');
  const after = await execute();
  assert.equal(after.status, 202);
  assert.equal(after.headers.get('idempotent-replayed'), 'true');
  assert.deepEqual(after.body, { ...first.body, currentStatus: 'failed' });
  assert.equal((await service.call('DELETE', first.body.statusUrl, { key: fresh })).status, 204);
  assert.deepEqual((await execute()).body, { ...first.body, currentStatus: null });
});

test('an Idempotency-Key is scoped to its key and agent, and expires after a day', async () => {
  const other = await addAgent(service, { requiredVariables: [], optionalVariables: ['name'] });
  const options = { key, body: { variables: {} }, headers: { 'idempotency-key': 'shared' } };
  const [first, elsewhere] = await Promise.all([
    service.call('POST', `${other.path}/execute`, options),
    service.call('POST', `${other.path}/execute`, { ...options, key: (await service.key()).key }),
  ]);
  assert.notEqual(first.body.executionId, elsewhere.body.executionId);
  await ended(service, first.body.statusUrl, key);
  await sql`update idempotency set created_at = created_at - interval '25 hours'`.execute(
    service.db,
  );
  const later = await service.call('POST', `${other.path}/execute`, options);
  assert.equal(later.status, 202);
  assert.notEqual(later.body.executionId, first.body.executionId);
});

test('an Idempotency-Key counts until its execution has ended, however long that takes', async () => {
  const options = {
    ...{ key, body: { variables: { topic: 'x' } }, headers: { 'idempotency-key': 'long' } },
  };
  const held = service.models.hold();
  const first = await service.call('POST', `${agent.path}/execute`, options);
  await held.arrived;
  await sql`update idempotency set created_at = created_at - interval '25 hours'`.execute(
    service.db,
  );
  const again = await service.call('POST', `${agent.path}/execute`, options);
  assert.equal(again.body.executionId, first.body.executionId);
  held.release();
  await ended(service, first.body.statusUrl, key);
});

test('an execution uses the agent as it was at acceptance', async () => {
  const changing = await addAgent(service, {
    user: '{{a}}',
    requiredVariables: [],
    optionalVariables: ['a'],
    defaultVariableValues: { a: 'before' },
    config: { maxConcurrency: 1 },
  });
  const heldCall = service.models.hold();
  const execute = () =>
    service.call('POST', `${changing.path}/execute`, { key, body: { variables: {} } });
  const first = await execute();
  const second = await execute();
  await heldCall.arrived;
  await sql`update agents set default_variable_values = '{"a":"after"}' where id = ${changing.id}`.execute(
    service.db,
  );
  heldCall.release();
  await ended(service, first.body.statusUrl, key);
  assert.equal((await ended(service, second.body.statusUrl, key)).userPrompt, 'before');
});

test('counts one AI Action per accepted execution and none per refused one', async () => {
  const used = async () => {
    const { rows } = await sql<{ used: number }>`
      select month_used as used from limits where subject = ${service.workspaceId}`.execute(
      service.db,
    );
    return rows[0]?.used ?? 0;
  };
  const before = await used();
  await run(service, agent, key, { topic: 'x' });
  await service.call('POST', `${agent.path}/execute`, { key, body: { variables: {} } });
  assert.equal(await used(), before + 1);
});

test('the view for BI tools shows ended executions under stable names', async () => {
  const record = await run(service, agent, key, { topic: 'view' });
  const { rows } = await sql<Record<string, unknown>>`
    select status, source, agent_name, tokens_used, model_used, prompt_version_label, error_code,
      to_char(executed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as executed_at
    from cueline_executions where agent_id = ${agent.id} order by execution_id desc limit 1`.execute(
    service.db,
  );
  assert.deepEqual(rows[0], {
    status: 'success',
    source: 'api',
    agentName: 'Agent',
    tokensUsed: 15,
    modelUsed: 'cueline/echo',
    promptVersionLabel: 'v1',
    errorCode: null,
    executedAt: record.executedAt.replace('Z', '000Z'),
  });
});
