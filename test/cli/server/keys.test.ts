import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { openTestDatabase } from '../../../harness/database.ts';
import { type Service, startService } from '../../../harness/service.ts';
import { freezeWindows } from '../../../harness/windows.ts';
import { toId } from '../../../src/core/id.ts';
import type { Db } from '../../../src/db/database.ts';
import { sql } from '../../../src/db/sql.ts';
import { insertAliases } from '../../../src/features/agents/statements/slugs.ts';
import { cueline, jsonLines, onDatabase } from '../cueline.ts';

/** `cueline keys` on the database of a running service and on an empty one. */

let service: Service;
let env: Record<string, string>;

before(async () => {
  service = await startService();
  env = onDatabase(service.database.connection);
});
after(() => service.close());

test('create prints a working key and, with --json, only JSON', async () => {
  const args = ['keys', 'create', '--name', 'CI', '--permission', 'execute,read,cancel,manage,own'];
  const ended = await cueline([...args, '--json'], env);
  assert.equal(ended.code, 0, ended.stderr);
  assert.equal(ended.stderr, '');
  const [issued, ...more] = jsonLines(ended);
  assert.deepEqual(more, []);
  assert.deepEqual(Object.keys(issued), ['apiKeyId', 'key']);

  const { status, body } = await service.call('GET', '/api/v1/keys', { key: issued.key });
  assert.equal(status, 200);
  const [shown] = body.keys;
  assert.equal(shown.apiKeyId, issued.apiKeyId);
  assert.equal(shown.name, 'CI');
  assert.equal(shown.agentIds, null);
  assert.equal(shown.createdBy, toId('user', service.ownerId));
  assert.deepEqual(shown.rateLimits, {
    ...{ requestsPerMinute: 100, requestsPerHour: 5000, requestsPerDay: 100000 },
  });
});

test('create takes agents by slug and alias', async () => {
  const agent = await addAgent(service, { slug: 'by-slug' });
  const subject = { workspaceId: service.workspaceId, subject: agent.id };
  await insertAliases(service.db, subject, ['pmpt_Cli']);
  const args = ['keys', 'create', '--name', 'Named', '--permission', 'execute'];
  const names = ['--agent', 'by-slug', '--agent', 'pmpt_Cli'];
  const ended = await cueline([...args, ...names], env);
  assert.equal(ended.code, 0, ended.stderr);
  const { key } = await service.key();
  const { body } = await service.call('GET', '/api/v1/keys', { key });
  const shown = body.keys.find((row: { name: string }) => row.name === 'Named');
  assert.deepEqual(shown.agentIds, [agent.agentId]);
  const unknown = await cueline([...args, '--agent', 'pmpt_cli'], env);
  assert.deepEqual([unknown.code, unknown.stdout], [1, '']);
  assert.match(unknown.stderr, /no such agent/i);
});

test('create restricts the key to agents, limits and an expiry time', async () => {
  const [one, two] = [await addAgent(service), await addAgent(service)];
  const args = ['--permission', 'execute', '--permission', 'read', '--agent', one.agentId];
  const limits = ['--requests-per-minute', '7', '--requests-per-day', 'none'];
  const end = ['--agent', two.agentId, '--expires-at', '2999-01-01'];
  const ended = await cueline(['keys', 'create', '--name', 'N', ...args, ...limits, ...end], env);
  assert.equal(ended.code, 0, ended.stderr);
  assert.match(ended.stdout, /^cue_\w{36}\n$/);
  assert.match(ended.stderr, /^Issued key_\w{26}\. The key is shown once\.\n$/);
  const { key } = await service.key();
  const { body } = await service.call('GET', '/api/v1/keys', { key });
  const shown = body.keys.find((row: { name: string }) => row.name === 'N');
  assert.deepEqual(shown.permissions, ['execute', 'read']);
  assert.deepEqual(shown.agentIds.toSorted(), [one.agentId, two.agentId].toSorted());
  assert.deepEqual(shown.rateLimits, {
    ...{ requestsPerMinute: 7, requestsPerHour: 5000, requestsPerDay: null },
  });
  assert.equal(shown.expiresAt, '2999-01-01T00:00:00.000Z');
});

test('create uses the given workspace', async () => {
  const other = await service.workspace();
  const id = toId('workspace', other.workspaceId);
  const args = ['keys', 'create', '--name', 'N', '--permission', 'manage', '--workspace', id];
  const [{ key }] = jsonLines(await cueline([...args, '--json'], env));
  const { body } = await service.call('GET', '/api/v1/keys', { key });
  assert.equal(body.pagination.total, 1);
  assert.equal(body.keys[0].createdBy, toId('user', other.ownerId));
});

test('create prints an invalid option on one line and writes nothing', async () => {
  const known = (await addAgent(service)).agentId;
  const keysBefore = await countKeys(service.db);
  const nobody = toId('workspace', '019a9e3b-7c00-7a52-9e0c-5b1f0c6d2e41');
  const stranger = toId('agent', '019a9e3b-7c00-7a52-9e0c-5b1f0c6d2e41');
  const cases: [string[], RegExp][] = [
    [['--permission', 'manage,own', '--agent', known], /"own" applies to the whole workspace/],
    [['--permission', 'execute,fly'], /must be one of execute, read, cancel, manage/],
    [['--permission', 'read', '--agent', `${known},${stranger}`], /no such agent/],
    [['--permission', 'read', '--agent', 'nonsense'], /no such agent/],
    [['--permission', 'read', '--workspace', nobody], /Unknown workspace wsp_/],
    [
      ['--permission', 'read', '--expires-at', '9999-12-31T23:00-10:00'],
      /--expires-at must be an ISO 8601/,
    ],
    [['--permission', 'read', '--expires-at', '2001-01-01'], /must be in the future/],
    [['--permission', 'read', '--requests-per-hour', '-1'], /whole number, or "none"/],
    [['--permission', 'read', '--requests-per-hour', '9999999999'], /requestsPerHour/],
    [[], /--permission <list>' not specified/],
  ];
  const ended = await Promise.all(
    cases.map(([args]) => cueline(['keys', 'create', '--name', 'N', '--json', ...args], env)),
  );
  ended.forEach(({ code, stdout, stderr }, at) => {
    assert.equal(code, 1);
    assert.equal(stdout, '');
    assert.match(stderr, cases[at]?.[1] ?? /^$/);
    assert.doesNotMatch(stderr, /^ +at /m);
  });
  assert.equal(await countKeys(service.db), keysBefore);
});

test('list, rotate and revoke behave as in the API', async () => {
  const old = await service.key();
  const args = ['keys', 'rotate', old.apiKeyId, '--grace-seconds', '600', '--json'];
  const [fresh] = jsonLines(await cueline(args, env));
  assert.deepEqual(Object.keys(fresh), ['apiKeyId', 'key']);
  assert.equal((await service.call('GET', '/api/v1/agents', { key: old.key })).status, 200);
  assert.equal((await service.call('GET', '/api/v1/agents', { key: fresh.key })).status, 200);

  const revoked = await cueline(['keys', 'revoke', fresh.apiKeyId], env);
  assert.deepEqual([revoked.code, revoked.stdout], [0, `Revoked ${fresh.apiKeyId}.\n`]);
  assert.equal((await service.call('GET', '/api/v1/agents', { key: fresh.key })).status, 401);

  const { key } = await service.key();
  const { rows: keys } = await sql<{ id: string }>`select id from api_keys`.execute(service.db);
  for (const { id } of keys) await freezeWindows(service.db, id);
  const listed = await cueline(['keys', 'list', '--json'], env);
  const { body } = await service.call('GET', '/api/v1/keys?limit=100', { key });
  assert.deepEqual(jsonLines(listed).map(withoutUse), body.keys.map(withoutUse));
  assert.ok(!listed.stdout.includes(fresh.key));
  const table = await cueline(['keys', 'list'], env);
  assert.match(table.stdout, /^apiKeyId +name +start/);
  assert.equal(table.stdout.split('\n').length, jsonLines(listed).length + 2);

  const again = await cueline(['keys', 'rotate', fresh.apiKeyId], env);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /^cueline: .*already ended/);
  const unknown = await cueline(['keys', 'revoke', 'key_none'], env);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /^cueline: There is no such API key/);
});

test('on an empty database, only create makes the first workspace', async (t) => {
  const { database, db } = await freshDatabase(t);
  const fresh = onDatabase(database.connection);
  const listed = await cueline(['keys', 'list'], fresh);
  assert.equal(listed.code, 1);
  assert.match(listed.stderr, /No workspace yet/);

  const create = ['keys', 'create', '--name', 'N', '--permission', 'read', '--json'];
  const owner = { ...fresh, CUELINE_OWNER_EMAIL: 'Ada@Example.com' };
  const first = await cueline(create, owner);
  assert.equal(first.code, 0, first.stderr);
  assert.equal(jsonLines(first).length, 1);
  assert.match(first.stderr, /Owner: ada@example\.com\nPassword: \S{10,} +\(shown once\)/);
  const second = await cueline(create, owner);
  assert.deepEqual([second.code, second.stderr], [0, '']);
  assert.equal(await countKeys(db), 2);

  await sql`delete from schema_migrations where name = (select max(name) from schema_migrations)`.execute(
    db,
  );
  const manual = await cueline(create, { ...fresh, CUELINE_MIGRATE: 'manual' });
  assert.equal(manual.code, 1);
  assert.match(manual.stderr, /lacks migrations \(00/);
  assert.equal(await countKeys(db), 2);
});

async function freshDatabase(t: { after(undo: () => Promise<void>): void }) {
  const { database, db, close } = await openTestDatabase(1);
  t.after(close);
  return { database, db };
}

async function countKeys(db: Db): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from api_keys`.execute(db);
  return rows[0]?.n ?? 0;
}

/** Without the time of the last use, which is written with a delay. */
function withoutUse({ lastUsedAt: _, ...key }: { lastUsedAt: unknown }) {
  return key;
}
