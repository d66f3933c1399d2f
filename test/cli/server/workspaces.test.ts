import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../../../harness/service.ts';
import { cueline, jsonLines, onDatabase } from '../cueline.ts';

/** `cueline workspaces` beside a running service. */

let service: Service;
let env: Record<string, string>;

before(async () => {
  service = await startService();
  env = onDatabase(service.database.connection);
});
after(() => service.close());

const create = (owner: string, ...more: string[]) =>
  cueline(['workspaces', 'create', '--name', 'Ärzte', '--owner', owner, ...more], env);

test('create makes a new user the owner, with a generated password', async () => {
  const ended = await create('New.Owner@Example.com', '--json');
  assert.equal(ended.code, 0, ended.stderr);
  assert.equal(ended.stderr, '');
  const [{ workspaceId, ownerEmail, password, ...rest }, ...more] = jsonLines(ended);
  assert.deepEqual([rest, more], [{}, []]);
  assert.equal(ownerEmail, 'new.owner@example.com');
  const signedIn = await signIn(ownerEmail, password);
  assert.equal(signedIn.status, 200);
  const cookie = signedIn.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');
  const { body } = await service.call('GET', '/api/v1/me', { cookie });
  assert.deepEqual(
    body.workspaces.map(({ workspaceId, name, role }: Record<string, string>) => [
      workspaceId,
      name,
      role,
    ]),
    [[workspaceId, 'Ärzte', 'owner']],
  );
});

test('create makes an existing user an owner there as well, and prints no password', async () => {
  const { cookie, email } = await service.signIn('viewer');
  const ended = await create(email.toUpperCase());
  assert.equal(ended.stdout, '');
  assert.match(ended.stderr, /^Created workspace (wsp_\w{26})\. Owner: \S+\.\n$/);
  const { body } = await service.call('GET', '/api/v1/me', { cookie });
  const roles = body.workspaces.map(({ role }: { role: string }) => role).toSorted();
  assert.deepEqual(roles, ['owner', 'viewer']);
});

test('a key can be issued for the new workspace', async () => {
  const [{ workspaceId }] = jsonLines(await create('key@example.com', '--json'));
  const args = ['keys', 'create', '--name', 'N', '--permission', 'read,manage'];
  const [{ key }] = jsonLines(await cueline([...args, '--workspace', workspaceId, '--json'], env));
  const { status, body } = await service.call('GET', '/api/v1/agents', { key });
  assert.equal(status, 200);
  assert.deepEqual(body.agents, []);
});

test('create rejects invalid options on one line', async () => {
  const cases: [string[], RegExp][] = [
    [['--name', ' ', '--owner', 'a@example.com'], /^cueline: Field "name" .*\n$/],
    [
      ['--name', 'N', '--owner', 'nobody'],
      /^cueline: Option "--owner" must be an e-mail address\.\n$/,
    ],
  ];
  for (const [args, message] of cases) {
    const ended = await cueline(['workspaces', 'create', ...args], env);
    assert.notEqual(ended.code, 0);
    assert.match(ended.stderr, message);
  }
});

const signIn = (email: string, password: string) =>
  fetch(`${service.url}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: service.url },
    body: JSON.stringify({ email, password }),
  });
