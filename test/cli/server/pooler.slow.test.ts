import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import type pg from 'pg';
import { runAsAdmin } from '../../../harness/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../../../harness/database.ts';
import { type CuelineProcess, databaseUrl, spawnCueline } from '../../../harness/process.ts';
import { startReceiver } from '../../../harness/receiver.ts';
import { type Pooler, poolerVersion, startPooler } from '../../../proof/pooler.ts';
import { detectPooler } from '../../../src/db/detect-pooler.ts';
import { cueline } from '../cueline.ts';

/** A whole lifetime behind PgBouncer in transaction mode, starting with an empty database. */

const skip = poolerVersion() === null && 'pgbouncer is not installed: apt-get install pgbouncer';
const owner = { email: 'owner@example.com', password: 'a password that is long' };
const env = {
  ...{ CUELINE_OWNER_EMAIL: owner.email, CUELINE_OWNER_PASSWORD: owner.password },
  CUELINE_ALLOWED_HOSTS: '127.0.0.1',
};
let database: TestDatabase;
let pooler: Pooler;
let started: CuelineProcess | null = null;

before(async () => {
  if (skip) return;
  database = await createTestDatabase();
  const { connection } = database;
  const admin = { ...connection, user: 'postgres', database: connection.database };
  await runAsAdmin(admin, 'drop owned by cueline');
  await runAsAdmin(admin, 'grant all on schema public to cueline');
  pooler = await startPooler(connection);
});
after(async () => {
  await started?.kill('SIGKILL');
  await pooler?.stop();
  await database?.drop();
});

test('concurrent starts migrate an empty database, and one creates the first workspace', {
  skip,
}, async () => {
  const all = await Promise.all([1, 2, 3].map(() => spawnCueline('start', pooler.connection, env)));
  const [first, ...others] = all;
  started = first ?? null;
  await Promise.all(others.map((one) => one.kill('SIGTERM')));
  assert.deepEqual(
    others.map(({ child }) => child.exitCode),
    [0, 0],
  );
});

test('keys are issued; executions are started, awaited, listed and canceled; an event is delivered', {
  skip,
}, async () => {
  const secrets = {
    DATABASE_URL: databaseUrl(pooler.connection),
    CUELINE_SECRET: 'a secret that is used only by tests',
  };
  const permissions = 'execute,read,cancel,manage,own';
  const created = await cueline(
    ['keys', 'create', '--name', 'k', '--permission', permissions, '--json'],
    secrets,
  );
  assert.equal(created.code, 0, created.stderr);
  const { key } = JSON.parse(created.stdout);
  const { agents } = await answered('GET', '/api/v1/agents', key);
  const [{ agentId, requiredVariables }] = agents;
  const variables = Object.fromEntries(requiredVariables.map((name: string) => [name, 'x']));
  const path = `/api/v1/agents/${agentId}`;

  const accepted = await answered('POST', `${path}/execute`, key, { variables });
  const record = await answered('GET', `${accepted.statusUrl}?wait=20`, key);
  assert.equal(record.status, 'success');
  const { executions } = await answered('GET', `${path}/executions`, key);
  assert.deepEqual(
    executions.map((one: { executionId: string }) => one.executionId),
    [accepted.executionId],
  );

  await answered('PATCH', path, key, { agentConfig: { model: 'cueline/echo?delay=60000' } });
  const slow = await answered('POST', `${path}/execute`, key, { variables });
  const canceled = await answered('POST', `${slow.statusUrl}/cancel`, key);
  assert.equal(canceled.status, 'canceled');

  const receiver = await startReceiver();
  const endpoint = { url: receiver.url, eventTypes: ['execution.canceled'] };
  const { endpointId } = await answered('POST', '/api/v1/endpoints', key, endpoint);
  const other = await answered('POST', `${path}/execute`, key, { variables });
  await answered('POST', `${other.statusUrl}/cancel`, key);
  const [event] = await receiver.received(1);
  assert.equal(event?.event.data.executionId, other.executionId);
  let log = [];
  while (log[0]?.state !== 'delivered') {
    const { deliveries } = await answered('GET', `/api/v1/endpoints/${endpointId}/deliveries`, key);
    log = deliveries;
  }
  await receiver.close();
});

test('the owner signs in and lists with the session', { skip }, async () => {
  const url = started?.url ?? '';
  const signedIn = await fetch(`${url}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify(owner),
  });
  assert.equal(signedIn.status, 200);
  const cookie = signedIn.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');
  const agents = await fetch(`${url}/api/v1/agents`, { headers: { cookie } });
  assert.equal(agents.status, 200);
});

test('a setting of the role that would break statements is reported with its remedy', {
  skip,
}, async (t) => {
  await assert.rejects(detectPooler(await pooledWith(t, 'array_nulls = off')), {
    name: 'StartupFailure',
    message:
      /array_nulls .* must be on, but is off: run "ALTER ROLE cueline SET array_nulls = 'on'"/,
  });
});

test('one that would slow them down is a warning', { skip }, async (t) => {
  const warnings: string[] = [];
  await detectPooler(await pooledWith(t, 'jit = on'), (text) => warnings.push(text));
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? '', /jit .* should be off, .*"ALTER ROLE cueline SET jit = 'off'"/);
});

/** Through a pooler, to a database with this setting. */
async function pooledWith(t: TestContext, setting: string): Promise<pg.ClientConfig> {
  const { connection, drop } = await createTestDatabase();
  t.after(drop);
  await runAsAdmin(
    { ...connection, user: 'postgres' },
    `alter database ${connection.database} set ${setting}`,
  );
  const pooler = await startPooler(connection);
  t.after(() => pooler.stop());
  return pooler.connection;
}

// biome-ignore lint/suspicious/noExplicitAny: tests read any field
async function answered(method: string, path: string, key: string, body?: object): Promise<any> {
  const response = await fetch(`${started?.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  assert.ok(response.ok, JSON.stringify(answer));
  return answer;
}
