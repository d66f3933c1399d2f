import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { legacy } from '../../../../harness/mcp.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';
import { deleteOldRefusalCounts } from '../../../../src/engine/run/maintenance.ts';

const service = await startService();
after(service.close);
const { key: reader } = await service.key();
const secret = 'caller-text-4711';

interface Refusal {
  readonly apiKeyId: string;
  readonly code: string;
  readonly count: number;
  readonly lastMessage: string;
  readonly lastAt: string;
}

async function refusals(agent: { readonly path: string }): Promise<Refusal[]> {
  const { status, body } = await service.call('GET', `${agent.path}/refusals`, { key: reader });
  assert.equal(status, 200);
  return body.refusals;
}

const sorted = (rows: readonly Refusal[]) =>
  rows.map(({ code, count, lastMessage }) => [code, count, lastMessage]).toSorted();

test('counts what is wrong with calls, by key and code, without what they sent', async () => {
  const agent = await addAgent(service, { slug: 'asked' });
  const { key, apiKeyId } = await service.key();
  const call = (body: unknown, headers: Record<string, string> = {}, path = agent.path) =>
    service.call('POST', `${path}/execute`, { key, body, headers });
  for (const [status, body, headers, path] of [
    [400, `{"${secret}`],
    [400, { variables: {} }],
    [400, {}],
    [400, { variables: { name: 'x' }, [secret]: secret }],
    [400, { variables: { name: 'x', [secret]: '\u0000' } }, {}, '/api/v1/agents/asked'],
    [400, { variables: { name: `\u0000${secret}` } }],
    [415, secret, { 'content-type': 'text/plain' }],
  ] as const) {
    assert.equal((await call(body, headers, path)).status, status);
  }
  const rows = await refusals(agent);
  assert.deepEqual(sorted(rows), [
    ['INVALID_REQUEST', 1, rows.find(({ code }) => code === 'INVALID_REQUEST')?.lastMessage],
    ['INVALID_VARIABLES', 2, 'The value of variable "name" is not valid.'],
    ['MALFORMED_BODY', 1, 'The body is not valid JSON.'],
    ['MISSING_VARIABLES', 2, 'Required variables are missing: name.'],
    [
      'UNSUPPORTED_MEDIA_TYPE',
      1,
      rows.find(({ code }) => code === 'UNSUPPORTED_MEDIA_TYPE')?.lastMessage,
    ],
  ]);
  assert.match(JSON.stringify(rows), /Unknown field \\"…\\"\. Allowed: variables, user/);
  assert.doesNotMatch(JSON.stringify(rows), new RegExp(secret));
  for (const row of rows) {
    assert.equal(row.apiKeyId, apiKeyId);
    assert.ok(!Number.isNaN(Date.parse(row.lastAt)));
  }
  const ofKey = await service.call('GET', `/api/v1/keys/${apiKeyId}/refusals`, { key: reader });
  const { agentId } = agent;
  const same = rows.map(({ apiKeyId: _, ...row }) => ({ agentId, ...row }));
  assert.deepEqual(ofKey.body.refusals, same);
});

test('counts keys that may not call, beyond those that leave a record, and nothing else', async () => {
  const agent = await addAgent(service, { rateLimits: { requestsPerMinute: 0 } });
  const other = await addAgent(service);
  const past = new Date(Date.now() - 86_400_000);
  const execute = (key: string) =>
    service.call('POST', `${agent.path}/execute`, { key, body: { variables: { name: 'x' } } });
  const revoked = await service.key({ revokedAt: past });
  const expired = await service.key({ expiresAt: past });
  const tied = await service.key({ agentIds: [other.agentId] });
  const reading = await service.key({ permissions: ['read'] });
  for (let at = 0; at < 62; at++) assert.equal((await execute(revoked.key)).status, 401);
  for (const { key } of [expired, tied]) assert.equal((await execute(key)).status, 401);
  assert.equal((await execute(reading.key)).status, 403);
  assert.equal((await execute(`cue_${'0'.repeat(36)}`)).status, 401);
  // A limit leaves a record.
  assert.equal((await execute(reader)).status, 429);
  const rows = await refusals(agent);
  const counted = rows.map(({ apiKeyId, code, count }) => [apiKeyId, code, count]).toSorted();
  const expected = [
    [revoked.apiKeyId, 'UNAUTHORIZED', 62],
    [expired.apiKeyId, 'UNAUTHORIZED', 1],
    [tied.apiKeyId, 'UNAUTHORIZED', 1],
    [reading.apiKeyId, 'PERMISSION_DENIED', 1],
  ];
  assert.deepEqual(counted, expected.toSorted());
  const denied = rows.find(({ code }) => code === 'PERMISSION_DENIED');
  assert.equal(denied?.lastMessage, 'This needs the permission "execute".');
  const accepted = { key: reader, body: { variables: { name: 'x' } } };
  assert.equal((await service.call('POST', `${other.path}/execute`, accepted)).status, 202);
  assert.deepEqual(await refusals(other), []);
});

test('a key of another workspace counts nothing', async () => {
  const agent = await addAgent(service);
  const strange = await service.workspace();
  const { key } = await service.key({ ...strange, userId: strange.ownerId });
  const { status } = await service.call('POST', `${agent.path}/execute`, { key, body: '{' });
  assert.equal(status, 404);
  assert.deepEqual(await refusals(agent), []);
});

test('calls over the OpenAI API and MCP count too', async () => {
  const agent = await addAgent(service, { slug: 'faces' });
  const { key } = await service.key();
  const headers = { authorization: `Bearer ${key}` };
  for (const fields of [
    { [secret]: 1 },
    { tools: [{ type: 'function', function: { name: secret } }] },
  ]) {
    const body = { model: 'faces', messages: [{ role: 'user', content: 'x' }], ...fields };
    const { status } = await service.call('POST', '/v1/chat/completions', { headers, body });
    assert.equal(status, 400);
  }
  await legacy(service, 'tools/call', { name: 'faces', arguments: {} }, { key });
  const rows = await refusals(agent);
  assert.deepEqual(sorted(rows), [
    ['INVALID_REQUEST', 2, 'The parameter "tools" is not valid or not supported.'],
    ['MISSING_VARIABLES', 1, 'Required variables are missing: name.'],
  ]);
});

test('calls at once add to one row, and a row is deleted after 30 days', async () => {
  const agent = await addAgent(service);
  const { key } = await service.key();
  const call = () => service.call('POST', `${agent.path}/execute`, { key, body: {} });
  await Promise.all(Array.from({ length: 40 }, call));
  const count = () =>
    sql<{ n: number }>`
    select count(*)::int as n from refusal_counts where agent_id = ${agent.id}`.execute(service.db);
  const [{ n } = { n: 0 }] = (await count()).rows;
  // The calls may have been on two days.
  assert.ok(n === 1 || n === 2);
  assert.equal((await refusals(agent))[0]?.count, 40);
  await sql`
    update refusal_counts set day = day - 29 where agent_id = ${agent.id}`.execute(service.db);
  await deleteOldRefusalCounts(service.db, 100);
  assert.notEqual((await count()).rows[0]?.n, 0);
  await sql`
    update refusal_counts set day = day - 1 where agent_id = ${agent.id}`.execute(service.db);
  assert.deepEqual(await refusals(agent), []);
  await deleteOldRefusalCounts(service.db, 100);
  assert.equal((await count()).rows[0]?.n, 0);
});
