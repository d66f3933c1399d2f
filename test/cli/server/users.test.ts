import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../../../harness/service.ts';
import { toId } from '../../../src/core/id.ts';
import { cueline, jsonLines, onDatabase } from '../cueline.ts';

/** `cueline users` and `cueline plan` on the database of a running service. */

let service: Service;
let env: Record<string, string>;

before(async () => {
  service = await startService();
  env = onDatabase(service.database.connection);
});
after(() => service.close());

test('users list prints all users with their workspaces', async () => {
  const ownerId = toId('user', service.ownerId);
  const workspaceId = toId('workspace', service.workspaceId);
  const users = jsonLines(await cueline(['users', 'list', '--json'], env));
  const owner = users.find((user) => user.userId === ownerId);
  assert.equal(owner.email, `${service.ownerId}@example.com`);
  assert.deepEqual(owner.workspaces, [{ workspaceId, name: 'Test', role: 'owner' }]);
  const { stdout } = await cueline(['users', 'list'], env);
  assert.match(stdout, new RegExp(`${ownerId}.* ${workspaceId} \\(owner\\)`));
});

test('users reset-password sets a new password and signs the user out everywhere', async () => {
  const { cookie, email } = await service.signIn('editor');
  assert.equal((await service.call('GET', '/api/v1/me', { cookie })).status, 200);
  const reset = await cueline(['users', 'reset-password', email.toUpperCase()], env);
  assert.equal(reset.code, 0, reset.stderr);
  assert.equal((await service.call('GET', '/api/v1/me', { cookie })).status, 401);
  assert.match(reset.stdout, /^\S{10,}\n$/);
  assert.match(reset.stderr, /^\S+ is signed out everywhere\. The new password is shown once\.\n$/);
  const password = reset.stdout.trim();
  assert.equal(await signInStatus(email, password), 200);

  const args = ['users', 'reset-password', email, '--password-stdin', '--json'];
  const given = await cueline(args, env, 'correct  horse\n');
  assert.deepEqual(jsonLines(given), [{ email, password: null }]);
  assert.equal(await signInStatus(email, 'correct  horse'), 200);
  assert.equal(await signInStatus(email, password), 401);
});

test('users reset-password rejects unknown users and invalid passwords', async () => {
  const { email } = await service.signIn('viewer');
  const args = ['users', 'reset-password'];
  const stranger = await cueline([...args, 'nobody@example.com'], env);
  assert.equal(stranger.code, 1);
  assert.match(stranger.stderr, /^cueline: There is no user .*nobody@example\.com\.\n$/);
  const short = await cueline([...args, email, '--password-stdin'], env, 'short\n');
  assert.equal(short.code, 1);
  assert.match(short.stderr, /^cueline: A password has 10 to 128 characters\.\n$/);
});

test('plan set applies from the next call on', async () => {
  const args = ['plan', 'set', '--name', 'Team', '--actions-per-month'];
  const set = await cueline([...args, '1000', '--json'], env);
  assert.deepEqual(jsonLines(set), [{ name: 'Team', actionsPerMonth: 1000 }]);
  const { key } = await service.key();
  const { body } = await service.call('GET', '/api/v1/usage', { key });
  assert.deepEqual([body.plan, body.actionsPerMonth], ['Team', 1000]);
  const open = await cueline([...args, 'none'], env);
  assert.equal(open.stdout, 'Plan Team: unlimited AI Actions per month.\n');
  assert.equal((await service.call('GET', '/api/v1/usage', { key })).body.actionsPerMonth, null);
  const many = await cueline([...args, '999999999999999'], env);
  assert.equal(many.code, 1);
  assert.match(many.stderr, /^cueline: Field "actionsPerMonth" must be/);
});

test("commands appear in the audit log, in nobody's name", async () => {
  const { email, userId } = await service.signIn('editor');
  const create = ['keys', 'create', '--name', 'CI', '--permission', 'execute', '--json'];
  const [{ apiKeyId }] = jsonLines(await cueline(create, env));
  const rotated = await cueline(['keys', 'rotate', apiKeyId, '--json'], env);
  const [{ apiKeyId: successor }] = jsonLines(rotated);
  await cueline(['keys', 'revoke', successor], env);
  await cueline(['users', 'reset-password', email], env);
  await cueline(['plan', 'set', '--name', 'Audited', '--actions-per-month', '7'], env);
  const workspaceId = toId('workspace', service.workspaceId);
  await cueline(['workspaces', 'rename', '--name', 'Renamed'], env);
  for (const [action, subject] of [
    ['key.issue', apiKeyId],
    ['key.rotate', apiKeyId],
    ['key.revoke', successor],
    ['password.reset', toId('user', userId)],
    ['plan.change', workspaceId],
    ['workspace.change', workspaceId],
  ]) {
    const path = `/api/v1/audit?action=${action}`;
    const { body } = await service.call('GET', path, { user: service.ownerId });
    const { userId: by, apiKeyId: key, via, details, subject: what } = body.audit[0];
    assert.deepEqual([what, by, key, via], [subject, null, null, 'command line'], action);
    assert.equal(details.via, 'command line');
  }
});

async function signInStatus(email: string, password: string): Promise<number> {
  const { status } = await fetch(`${service.url}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  return status;
}
