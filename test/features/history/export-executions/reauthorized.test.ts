import assert from 'node:assert/strict';
import { get, type IncomingMessage } from 'node:http';
import { after, test } from 'node:test';
import { addAgent, type TestAgent } from '../../../../harness/agents.ts';
import { countHistory } from '../../../../harness/records.ts';
import { runRetentionRound } from '../../../../harness/retention-round.ts';
import { startService } from '../../../../harness/service.ts';
import { toId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';

/** A stream is authorized again before each chunk, and ends without its last chunk once its caller may not read it. */

// No worker: the history is inserted by hand.
const service = await startService({ role: 'api' });
after(service.close);
const { db, workspaceId, ownerId } = service;
/** With 32 kB each, more than the sockets buffer. */
const records = 800;
const agent = await addHistory('public');
const hidden = await addHistory('private');
await countHistory(db);

async function addHistory(visibility: 'public' | 'private'): Promise<TestAgent> {
  const made = await addAgent(service, { visibility });
  await sql`
    insert into executions (id, workspace_id, agent_id, prompt_version_id, executed_at, completed_at, status, source,
      agent_name, prompt_version_label, model, output, input_variables)
    select (left(id_floor(clock_timestamp() - n * interval '1 second')::text, 14) || '7000' || right(${made.id.replaceAll('-', '')}, 16))::uuid,
      ${workspaceId}, ${made.id}, ${made.id}, clock_timestamp(), clock_timestamp(), 'success', 'api', 'Large', 'v1',
      'cueline/echo', repeat(md5(n::text), 1000),
      json_build_object('customer', case when n > ${records / 2}::int then 'erased' else 'kept' end)
    from generate_series(1, ${records}::int) as n`.execute(db);
  return made;
}

/** Resolves once the response has begun. Nothing more is read until `recordsOf`. */
async function begin(path: string, headers: Record<string, string>): Promise<IncomingMessage> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${service.url}${path}`, { headers, agent: false }, resolve).on('error', reject);
  });
  assert.equal(response.statusCode, 200);
  await new Promise((resolve) => response.once('readable', resolve));
  return response;
}

/** The complete lines, and whether the response is complete. */
async function rest(response: IncomingMessage) {
  let text = '';
  response.setEncoding('utf8');
  try {
    for await (const part of response) text += part;
  } catch {
    // Cut off.
  }
  return { lines: text.split('\n').slice(0, -1), complete: response.complete };
}

async function assertCut(response: IncomingMessage): Promise<void> {
  const { lines, complete } = await rest(response);
  assert.equal(complete, false);
  assert.ok(lines.length < records);
  const logged = service.faults.splice(0) as { readonly msg: string }[];
  assert.deepEqual(new Set(logged.map(({ msg }) => msg)), new Set(['export aborted']));
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const exportOf = (one: TestAgent) => `${one.path}/executions/export`;

for (const [what, path] of [
  ['one agent', exportOf(agent)],
  ['all agents', '/api/v1/executions/export'],
] as const) {
  test(`an export of ${what} ends when its key is revoked`, async () => {
    const { key, apiKeyId } = await service.key({ agentIds: [agent.agentId] });
    const response = await begin(path, bearer(key));
    const revoke = `/api/v1/keys/${apiKeyId}/revoke`;
    assert.equal((await service.call('POST', revoke, { user: ownerId })).status, 200);
    await assertCut(response);
  });

  test(`an export of ${what} ends when its agent becomes private`, async () => {
    const userId = await service.member('viewer');
    const { key } = await service.key({ userId, permissions: ['read'] });
    const response = await begin(path, bearer(key));
    const setVisibility = (visibility: string) =>
      service.call('PATCH', `/api/v1/agents/${agent.agentId}`, {
        user: ownerId,
        body: { visibility },
      });
    assert.equal((await setVisibility('private')).status, 200);
    await assertCut(response);
    await setVisibility('public');
  });
}

test('an export ends when the role of its user no longer shows the agent', async () => {
  const { cookie, userId } = await service.signIn('owner');
  const response = await begin(exportOf(hidden), { cookie });
  const member = `/api/v1/members/${toId('user', userId)}`;
  const changed = await service.call('PATCH', member, { user: ownerId, body: { role: 'viewer' } });
  assert.equal(changed.status, 200);
  await assertCut(response);
});

test('an export ends when its user leaves', async () => {
  const { cookie, userId } = await service.signIn('editor');
  const response = await begin(exportOf(agent), { cookie });
  const member = `/api/v1/members/${toId('user', userId)}`;
  assert.equal((await service.call('DELETE', member, { user: ownerId })).status, 204);
  await assertCut(response);
});

test('a streamed page ends when its key is revoked', async () => {
  const { key, apiKeyId } = await service.key();
  await sql`update executions set output = repeat(output, 20) where agent_id = ${hidden.id}`.execute(
    db,
  );
  const response = await begin(`${hidden.path}/executions?limit=100`, bearer(key));
  await service.call('POST', `/api/v1/keys/${apiKeyId}/revoke`, { user: ownerId });
  assert.equal((await rest(response)).complete, false);
  const logged = service.faults.splice(0) as { readonly msg: string }[];
  assert.deepEqual(
    logged.map(({ msg }) => msg),
    ['page aborted'],
  );
});

test('an export leaves out records that were deleted meanwhile', async () => {
  const { key } = await service.key();
  const response = await begin(exportOf(agent), bearer(key));
  const { rows } = await sql<{ id: string }>`
    select id from executions where agent_id = ${agent.id} order by id limit 1`.execute(db);
  const executionId = toId('execution', rows[0]?.id ?? '');
  const at = `${agent.path}/executions/${executionId}`;
  assert.equal((await service.call('DELETE', at, { key })).status, 204);
  const { lines, complete } = await rest(response);
  assert.equal(complete, true);
  assert.equal(lines.length, records - 1);
  assert.ok(!lines.some((line) => line.includes(executionId)));
});

test('an export ends before records that were erased meanwhile', async () => {
  const { key } = await service.key();
  const response = await begin(exportOf(agent), bearer(key));
  const body = { variable: 'customer', value: 'erased', agentId: agent.agentId };
  const { body: erasure } = await service.call('POST', '/api/v1/erasures', { user: ownerId, body });
  await runRetentionRound(db, service.database);
  const at = `/api/v1/erasures/${erasure.erasureId}`;
  assert.equal((await service.call('GET', at, { user: ownerId })).body.status, 'completed');
  const { lines, complete } = await rest(response);
  assert.equal(complete, false);
  assert.ok(lines.length > 0 && !lines.some((line) => line.includes('"erased"')));
  service.faults.splice(0);
});
