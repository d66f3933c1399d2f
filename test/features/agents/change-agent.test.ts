import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, type TestAgent } from '../../../harness/agents.ts';
import { freshId } from '../../../harness/fresh-id.ts';
import { during } from '../../../harness/locks.ts';
import { makeAgent, makePrompt } from '../../../harness/prompts.ts';
import { startService } from '../../../harness/service.ts';
import { fromId } from '../../../src/core/id.ts';
import type { Trx } from '../../../src/db/database.ts';
import { type Sql, sql } from '../../../src/db/sql.ts';

/** Changes between the first read of an agent or prompt and its lock: the state under the lock decides. */

const service = await startService();
after(service.close);
const { db } = service;
const { key } = await service.key();

/** A concurrent change of the agent, in lock order. */
function changing({ id }: TestAgent, change: Sql) {
  return async (trx: Trx) => {
    await sql`select from limits where subject = ${id} for update`.execute(trx);
    await sql`update agents set revision = revision + 1, ${change} where id = ${id}`.execute(trx);
  };
}

test('a change waits for a call in admission', async () => {
  const agent = await addAgent(service);
  const admission = (trx: Trx) =>
    sql`select from limits where subject = ${agent.id} for update`.execute(trx);
  for (const [method, path, body] of [
    ['PATCH', agent.path, { agentName: 'New' }],
    ['POST', `${agent.path}/lifecycle`, { action: 'disable' }],
    ['DELETE', agent.path],
  ] as const) {
    const response = await during(db, admission, () =>
      service.call(method, path, body ? { key, body } : { key }),
    );
    assert.ok(response.status < 300);
  }
});

test('a concurrent change is merged, not overwritten', async () => {
  const agent = await addAgent(service, { config: { topP: 0.5 } });
  const other = changing(agent, sql`name = 'Theirs', config = '{"temperature": 1}'`);
  const body = { agentConfig: { maxTokens: 5 }, project: 'mine' };
  const response = await during(db, other, () => service.call('PATCH', agent.path, { key, body }));
  assert.equal(response.body.agentName, 'Theirs');
  assert.deepEqual(response.body.agentConfig, { temperature: 1, maxTokens: 5 });
});

test('If-Match is evaluated under the lock', async () => {
  const agent = await addAgent(service);
  const headers = { 'if-match': '"1"' };
  const response = await during(db, changing(agent, sql`name = 'Theirs'`), () =>
    service.call('PATCH', agent.path, { key, body: { agentName: 'Mine' }, headers }),
  );
  assert.equal(response.status, 412);
});

test('a transition starts from the stage under the lock', async () => {
  const agent = await addAgent(service, { stage: 'Testing' });
  const response = await during(db, changing(agent, sql`stage = 'Deployed'`), () =>
    service.call('DELETE', agent.path, { key }),
  );
  assert.deepEqual(response.body.allowedActions, ['rollback', 'disable']);
});

for (const [what, change] of [
  ['deleted', sql`stage = 'Paused', api_enabled = false, deleted_at = clock_timestamp()`],
  ['made private', sql`visibility = 'private'`],
] as const) {
  test(`an agent that was ${what} concurrently is not found`, async () => {
    const agent = await addAgent(service);
    const user = await service.member('editor');
    const response = await during(db, changing(agent, change), () =>
      service.call('PATCH', agent.path, { user, body: { agentName: 'Mine' } }),
    );
    assert.equal(response.status, 404);
  });
}

test('a prompt that is being archived gets no new version and no agent', async () => {
  const prompt = await makePrompt(service, { user: 'x' });
  const archive = (trx: Trx) =>
    sql`update prompts set archived_at = clock_timestamp()
      where id = ${fromId('prompt', prompt.promptId)}`.execute(trx);
  const pin = { promptId: prompt.promptId, promptVersionId: prompt.versionIds[0] };
  const agent = { key, body: { agentName: 'A', ...pin } };
  const made = await during(db, archive, () => service.call('POST', '/api/v1/agents', agent));
  assert.deepEqual([made.status, made.body.code], [409, 'CONFLICT']);

  await service.call('POST', `${prompt.path}/restore`, { key });
  const version = { key, body: { user: 'y' } };
  const added = await during(db, archive, () =>
    service.call('POST', `${prompt.path}/versions`, version),
  );
  assert.deepEqual([added.status, added.body.code], [409, 'CONFLICT']);
});

test('a concurrently added version counts for the number', async () => {
  const { path, promptId } = await makePrompt(service, { user: 'x' });
  const id = fromId('prompt', promptId);
  const another = async (trx: Trx) => {
    await sql`update prompts set revision = revision + 1 where id = ${id}`.execute(trx);
    await sql`
      insert into prompt_versions (id, prompt_id, workspace_id, number, label, user_template, variables)
      values (${freshId()}, ${id}, ${service.workspaceId}, 2, 'v2', 'y', '{}')`.execute(trx);
  };
  const { body } = await during(db, another, () =>
    service.call('POST', `${path}/versions`, { key, body: { user: 'z' } }),
  );
  assert.deepEqual([body.number, body.promptVersionLabel], [3, 'v3']);
  const shown = await service.call('GET', path, { key });
  assert.equal(shown.body.latestVersion.number, 3);
});

test('a failure in the middle leaves nothing', async () => {
  const agent = await makeAgent(service, await makePrompt(service, { user: 'x' }, { user: 'y' }));
  const count = async () => {
    const { rows } = await sql<{ n: number }>`
      select (select count(*) from agents) + (select count(*) from limits)
        + (select count(*) from pins) as n`.execute(db);
    return rows[0]?.n;
  };
  const before = await count();
  const { versionIds, promptId } = agent.prompt;
  const input = { agentName: 'A', promptId, promptVersionId: versionIds[0] };
  await sql`alter table pins add constraint nobody check (pinned_by is null) not valid`.execute(db);
  const created = await service.call('POST', '/api/v1/agents', { key, body: input });
  const pinned = await service.call('PATCH', agent.path, {
    ...{ key, body: { promptVersionId: versionIds[1], agentName: 'B' } },
  });
  await sql`alter table pins drop constraint nobody`.execute(db);
  assert.deepEqual([created.status, pinned.status], [500, 500]);
  assert.deepEqual([created.body.code, created.body.message], ['INTERNAL', 'Internal error.']);
  assert.equal(service.faults.splice(0).length, 2);
  assert.equal(await count(), before);
  const { body } = await service.call('GET', agent.path, { key });
  assert.deepEqual([body.agentName, body.promptVersionLabel], ['Agent', 'v1']);
});
