import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { modern } from '../../../../harness/mcp.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';
import { insertAliases } from '../../../../src/features/agents/statements/slugs.ts';

/** Agents that a caller does not see have no name for it. By identifier, the order of checks decides. */

const service = await startService();
after(service.close);
const { db, workspaceId } = service;
const seen = await addAgent(service, { slug: 'seen' });
const hidden = await addAgent(service, { slug: 'hidden', visibility: 'private' });
const elsewhere = await service.workspace();
const foreign = await addAgent(service, {
  ...{ workspaceId: elsewhere.workspaceId, createdBy: elsewhere.ownerId, slug: 'foreign' },
});
await insertAliases(db, { workspaceId, subject: seen.id }, ['pmpt_seen']);
await insertAliases(db, { workspaceId, subject: hidden.id }, ['pmpt_hidden']);
await insertAliases(db, { ...elsewhere, subject: foreign.id }, ['pmpt_foreign']);
const owner = await service.key();
const restricted = await service.key({ agentIds: [seen.agentId] });
const editor = await service.key({ userId: await service.member('editor') });
const variables = { variables: { name: 'x' } };

async function records(agentId: string) {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from all_executions where agent_id = ${agentId}`.execute(db);
  const { rows: tallies } = await sql`select * from refusals where agent_id = ${agentId}`.execute(
    db,
  );
  return (rows[0]?.count ?? 0) + tallies.length;
}

const execute = (name: string, key: string) =>
  service.call('POST', `/api/v1/agents/${name}/execute`, { key, body: variables });

test('an execute by name is 404 and leaves no trace; by identifier, 401 and a record', async () => {
  const names = ['hidden', 'pmpt_hidden'];
  for (const name of names) {
    for (const { key } of [restricted, editor]) {
      const { status, body } = await execute(name, key);
      assert.deepEqual([status, body.code], [404, 'NOT_FOUND'], name);
      const { requestId: _, ...unknown } = (await execute('nobody', key)).body;
      const { requestId: __, ...answer } = body;
      assert.deepEqual(answer, unknown);
    }
    assert.equal((await execute(name, owner.key)).status, 202);
  }
  assert.equal(await records(hidden.id), names.length);
  const byId = await execute(hidden.agentId, restricted.key);
  assert.deepEqual([byId.status, byId.body.code], [401, 'UNAUTHORIZED']);
  assert.ok((await records(hidden.id)) > names.length);
  for (const name of ['foreign', 'pmpt_foreign']) {
    assert.equal((await execute(name, owner.key)).status, 404);
  }
});

test('every other operation knows no name of a hidden agent', async () => {
  for (const name of ['hidden', 'pmpt_hidden', 'pmpt_foreign', 'nobody']) {
    for (const { key } of [restricted, editor]) {
      const path = `/api/v1/agents/${name}`;
      assert.equal((await service.call('GET', path, { key })).status, 404);
      assert.equal((await service.call('GET', `${path}/executions`, { key })).status, 404);
      const headers = { 'content-type': 'application/jsonl' };
      const body = '{"variables":{"name":"x"}}\n';
      const upload = await service.call('POST', `${path}/batches`, { key, headers, body });
      assert.deepEqual([upload.status, upload.body.message], [404, 'There is no such agent.']);
      const model = await service.call('GET', `/v1/models/${name}`, { key });
      assert.equal(model.status, 404);
    }
    const listed = await service.call('GET', `/api/v1/executions?agentId=${name}`, editor);
    assert.equal(listed.body.pagination.total, 0);
    const input = { name: 'K', permissions: ['execute'], agentIds: [name] };
    const issued = await service.call('POST', '/api/v1/keys', { key: editor.key, body: input });
    assert.equal(issued.status, 404);
  }
});

test('the OpenAI API and MCP take aliases, under the same rule', async () => {
  const respond = (body: object, { key }: { key: string }) =>
    service.call('POST', '/v1/responses', { key, body: { input: 'x', ...body } });
  const chat = (model: string, { key }: { key: string }) =>
    service.call('POST', '/v1/chat/completions', {
      ...{ key, body: { model, messages: [{ role: 'user', content: 'x' }] } },
    });
  const tool = async (name: string, { key }: { key: string }, path = '/mcp') => {
    const params = { name, arguments: { name: 'x' } };
    const { body } = await modern(service, 'tools/call', params, { key, path });
    return body.error?.code ?? body.result.content[0].text;
  };
  for (const key of [owner, restricted, editor]) {
    const response = await respond({ prompt: { id: 'pmpt_seen' } }, key);
    assert.deepEqual([response.status, response.body.model], [200, 'pmpt_seen']);
    assert.equal((await respond({ model: 'pmpt_seen' }, key)).status, 200);
    assert.equal((await chat('pmpt_seen', key)).status, 200);
    assert.equal((await service.call('GET', '/v1/models/pmpt_seen', key)).body.id, 'pmpt_seen');
    assert.equal(await tool('pmpt_seen', key), 'Hello x');
    assert.equal(await tool('pmpt_seen', key, '/mcp/seen'), 'Hello x');
    assert.equal(await tool('seen', key, '/mcp/pmpt_seen'), 'Hello x');
    assert.equal(await tool(seen.agentId, key, `/mcp/${seen.agentId}`), 'Hello x');
    const listed = await modern(service, 'tools/list', {}, { ...key, path: '/mcp/pmpt_seen' });
    const names = listed.body.result.tools.map((one: { name: string }) => one.name);
    assert.deepEqual(names, ['seen']);
  }
  const before = await records(hidden.id);
  for (const name of ['hidden', 'pmpt_hidden', 'pmpt_foreign', 'nobody']) {
    for (const key of [restricted, editor]) {
      for (const answer of [
        await respond({ model: name }, key),
        await respond({ prompt: { id: name } }, key),
        await chat(name, key),
      ]) {
        assert.deepEqual([answer.status, answer.body.error.code], [404, 'model_not_found']);
      }
      assert.equal(await tool(name, key), -32602);
      assert.equal(await tool('seen', key, `/mcp/${name}`), -32602);
      const path = `/mcp/${name}`;
      assert.equal((await modern(service, 'tools/list', {}, { ...key, path })).status, 404);
    }
  }
  assert.equal(await records(hidden.id), before);
});

test('a preflight by name is decided by the agents with that name, or by any key', async () => {
  const origin = 'https://pages.example';
  const open = await addAgent(service, { slug: 'open', allowedOrigins: [origin] });
  await insertAliases(db, { workspaceId, subject: open.id }, ['pmpt:open']);
  const preflight = async (name: string) => {
    const response = await fetch(`${service.url}/api/v1/agents/${name}/execute`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    });
    return [response.status, response.headers.get('access-control-allow-origin')];
  };
  for (const name of ['open', 'pmpt:open', 'pmpt%3Aopen']) {
    assert.deepEqual(await preflight(name), [204, origin], name);
    const response = await fetch(`${service.url}/api/v1/agents/${name}/execute`, {
      method: 'POST',
      headers: { origin, authorization: `Bearer ${owner.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(variables),
    });
    assert.deepEqual(
      [response.status, response.headers.get('access-control-allow-origin')],
      [202, origin],
    );
  }
  for (const name of ['seen', 'nobody', '%zz']) {
    assert.deepEqual(await preflight(name), [204, null], name);
  }
});

test('no CORS header tells that an agent with a name exists', async () => {
  const origin = 'https://keys.example';
  const headers = { origin, 'access-control-request-method': 'POST' };
  const options = async (name: string) =>
    (await fetch(`${service.url}/api/v1/agents/${name}/execute`, { method: 'OPTIONS', headers }))
      .headers;
  const execute = async (name: string) => {
    const { key } = restricted;
    const body = JSON.stringify(variables);
    const sent = { origin, authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const path = `/api/v1/agents/${name}/execute`;
    return (await fetch(service.url + path, { method: 'POST', headers: sent, body })).headers;
  };
  const allowed = (answer: Headers) => answer.get('access-control-allow-origin');
  for (const expected of [null, origin]) {
    // Reaches every agent of the workspace.
    if (expected) await service.key({ allowedOrigins: [origin] });
    for (const name of ['hidden', 'pmpt_hidden', 'nobody']) {
      assert.equal(allowed(await options(name)), expected, name);
      assert.equal(allowed(await execute(name)), expected, name);
    }
    assert.equal(allowed(await options(hidden.agentId)), expected);
  }
});

test('an agent by name obeys the rest of the order: limits first, then what it lacks', async () => {
  const limited = await service.key({ rateLimits: { requestsPerMinute: 0 } });
  for (const name of ['pmpt_seen', 'pmpt_hidden', 'nobody']) {
    assert.equal((await execute(name, limited.key)).status, 429);
  }
  const reader = await service.key({ permissions: ['read'] });
  assert.equal((await execute('pmpt_seen', reader.key)).status, 403);
  assert.equal((await execute('pmpt_seen', 'cue_nonsense')).status, 401);
  const paused = await addAgent(service, { slug: 'paused', stage: 'Paused' });
  const refused = await execute('paused', owner.key);
  assert.deepEqual([refused.status, refused.body.code], [403, 'AGENT_NOT_ACTIVE']);
  assert.equal(await records(paused.id), 2);
});
