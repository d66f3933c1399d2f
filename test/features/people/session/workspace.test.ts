import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { pino } from 'pino';
import { addAgent, run } from '../../../../harness/agents.ts';
import { secret, startService } from '../../../../harness/service.ts';
import { addWorkflow, step } from '../../../../harness/workflow-runs.ts';
import { toId } from '../../../../src/core/id.ts';
import { openDatabase } from '../../../../src/db/database.ts';
import { sql } from '../../../../src/db/sql.ts';
import { createSessions } from '../../../../src/features/people/access/session.ts';
import { asCallFailure } from '../../../../src/http/response/error-response.ts';

const service = await startService();
after(service.close);

const join = (userId: string, workspaceId: string) =>
  sql`
  insert into members (workspace_id, user_id, role) values (${workspaceId}, ${userId}, 'viewer')`.execute(
    service.db,
  );
const me = (cookie: string, workspace?: string) =>
  service.call('GET', '/api/v1/me', {
    cookie,
    headers: workspace === undefined ? {} : { 'cueline-workspace': workspace },
  });

test('a session uses the named workspace, else the one joined first', async () => {
  const other = await service.workspace();
  const { cookie, userId } = await service.signIn('editor');
  await join(userId, other.workspaceId);
  const [first, second] = [service, other].map((one) => toId('workspace', one.workspaceId));
  for (const [named, workspaceId, role] of [
    [undefined, first, 'editor'],
    [first, first, 'editor'],
    [second, second, 'viewer'],
  ]) {
    const { status, body } = await me(cookie, named);
    assert.deepEqual([status, body.workspaceId, body.role], [200, workspaceId, role]);
    assert.equal(body.workspaces.length, 2);
  }
});

test('without a name, a workspace that the user owns comes first', async () => {
  const other = await service.workspace();
  const { cookie, userId } = await service.signIn('editor');
  await join(userId, other.workspaceId);
  await sql`
    update members set role = 'owner'
    where user_id = ${userId} and workspace_id = ${other.workspaceId}`.execute(service.db);
  const { body } = await me(cookie);
  const home = toId('workspace', other.workspaceId);
  assert.deepEqual([body.workspaceId, body.workspaces[0].workspaceId], [home, home]);
});

test('an export link names the workspace as a parameter; other routes reject it', async () => {
  const other = await service.workspace();
  const { cookie, userId } = await service.signIn('editor');
  await join(userId, other.workspaceId);
  const agent = await addAgent(service);
  await run(service, agent, (await service.key()).key, { name: 'Ada' });
  const [first, second] = [service, other].map((one) => toId('workspace', one.workspaceId));
  const linesOf = async (workspace: string | undefined) => {
    const path = `/api/v1/executions/export?workspace=${workspace}`;
    const response = await fetch(service.url + path, { headers: { cookie } });
    return [response.status, (await response.text()).split('\n').length - 1];
  };
  assert.deepEqual(await linesOf(first), [200, 1]);
  assert.deepEqual(await linesOf(second), [200, 0]);
  const elsewhere = await service.workspace();
  assert.equal((await linesOf(toId('workspace', elsewhere.workspaceId)))[0], 401);
  const list = `/api/v1/executions?workspace=${first}`;
  assert.equal((await service.call('GET', list, { cookie })).status, 400);
});

test('execute rejects the workspace parameter', async () => {
  const other = await service.workspace();
  const { cookie, userId } = await service.signIn('editor');
  await join(userId, other.workspaceId);
  const agent = await addAgent(service);
  const workflow = await addWorkflow(service, {
    steps: [step({ name: 'a', agent, variables: { name: 'Ada' } })],
  });
  const named = `execute?workspace=${toId('workspace', other.workspaceId)}`;
  for (const [path, body] of [
    [`/api/agents/${agent.agentId}/${named}`, { variables: { name: 'Ada' } }],
    [`/api/workflows/${workflow.workflowId}/${named}`, { input: {} }],
  ] as const) {
    const headers = { origin: service.url };
    const answer = await service.call('POST', path, { cookie, headers, body });
    assert.equal(answer.status, 400);
    assert.equal(answer.body.message, 'Unknown parameter "workspace". Allowed: none.');
  }
});

test('401 in another workspace, and for a malformed workspace id', async () => {
  const other = await service.workspace();
  const { cookie, userId } = await service.signIn();
  for (const named of [toId('workspace', other.workspaceId), toId('user', userId), 'x', '']) {
    assert.equal((await me(cookie, named)).status, 401);
  }
});

test('a user without a membership is signed in but gets 401', async () => {
  const { cookie, userId } = await service.signIn('editor');
  await sql`delete from members where user_id = ${userId}`.execute(service.db);
  assert.equal((await me(cookie)).status, 401);
});

test('503 instead of 401 if the database is unavailable', async () => {
  const { cookie } = await service.signIn();
  const nowhere = { ...service.database.connection, host: '127.0.0.1', port: 1 };
  const db = openDatabase({ connection: nowhere, poolMax: 1, onError: () => {} });
  const { caller } = createSessions({
    ...{ db, secret, publicUrl: null, sendMail: null, logger: pino({ level: 'silent' }) },
    signIn: { github: null, google: null, oidc: null },
  });
  await assert.rejects(caller({ headers: { cookie } } as FastifyRequest), (error) => {
    assert.equal(asCallFailure(error)?.code, 'UNAVAILABLE');
    return true;
  });
  await db.destroy();
});
