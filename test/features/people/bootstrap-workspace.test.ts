import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openTestDatabase } from '../../../harness/database.ts';
import { addWorkspace } from '../../../harness/people.ts';
import { CallFailure } from '../../../src/core/failure.ts';
import type { Db } from '../../../src/db/database.ts';
import { sql } from '../../../src/db/sql.ts';
import { hashPassword } from '../../../src/features/people/access/session.ts';
import { hasGeneratedPassword, listUsers } from '../../../src/features/people/statements/users.ts';
import {
  bootstrapWorkspace,
  type FirstOwner,
} from '../../../src/process/setup/bootstrap-workspace.ts';

async function emptyDatabase(t: TestContext): Promise<Db> {
  const { db, close } = await openTestDatabase();
  t.after(close);
  return db;
}

const nobody: FirstOwner = { ownerEmail: null, ownerPassword: null, hashPassword };

test('one of several starting processes creates the workspace and its owner', async (t) => {
  const db = await emptyDatabase(t);
  const all = await Promise.all([1, 2, 3, 4].map(() => bootstrapWorkspace(db, nobody)));
  const made = all.filter(({ created }) => created);
  assert.equal(made.length, 1);
  assert.match(made[0]?.password ?? '', /^[\w-]{16}$/);
  assert.equal(await hasGeneratedPassword(db, made[0]?.ownerId ?? ''), true);
  for (const { created, password, ...rest } of all) {
    const { workspaceId, ownerId, email } = made[0] ?? {};
    assert.deepEqual(rest, { workspaceId, ownerId, email });
    assert.equal(password === undefined, !created);
  }
  const { rows } = await sql`
    select from workspaces w join limits l on l.subject = w.id join members m on m.workspace_id = w.id
    where m.role = 'owner' and w.name = 'Default'`.execute(db);
  assert.equal(rows.length, 1);
});

test('the configuration names the owner', async (t) => {
  const db = await emptyDatabase(t);
  const named = { ownerEmail: 'Ada@Example.com', ownerPassword: 'correct horse battery' };
  const made = await bootstrapWorkspace(db, { ...named, hashPassword });
  assert.deepEqual([made.created, made.email, made.password], [true, 'ada@example.com', undefined]);
  const [user] = await listUsers(db);
  assert.deepEqual([user?.id, user?.name, user?.workspaces.length], [made.ownerId, 'ada', 1]);
});

test('an invalid owner creates nothing', async (t) => {
  const db = await emptyDatabase(t);
  const wrong = bootstrapWorkspace(db, { ...nobody, ownerPassword: 'too short' });
  await assert.rejects(wrong, CallFailure);
  assert.deepEqual(await listUsers(db), []);
});

test('an existing workspace is kept', async (t) => {
  const db = await emptyDatabase(t);
  const { workspaceId, ownerId } = await addWorkspace(db);
  const other = await addWorkspace(db);
  const found = await bootstrapWorkspace(db, { ...nobody, ownerEmail: 'ada@example.com' });
  const email = `${ownerId}@example.com`;
  assert.deepEqual(found, { workspaceId, ownerId, email, created: false });
  const users = (await listUsers(db)).map(({ id }) => id);
  assert.deepEqual(users.sort(), [ownerId, other.ownerId].sort());
});

test('an existing account becomes the owner and keeps its password', async (t) => {
  const db = await emptyDatabase(t);
  const ada = { ...nobody, ownerEmail: 'ada@example.com' };
  const first = await bootstrapWorkspace(db, ada);
  await sql`delete from workspaces`.execute(db);
  const second = await bootstrapWorkspace(db, ada);
  assert.deepEqual([second.ownerId, second.password], [first.ownerId, undefined]);
  assert.ok(second.created && second.workspaceId !== first.workspaceId);
});
