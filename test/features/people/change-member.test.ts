import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { openTestDatabase } from '../../../harness/database.ts';
import { addMember, addWorkspace } from '../../../harness/people.ts';
import { CallFailure } from '../../../src/core/failure.ts';
import type { Caller } from '../../../src/core/people/caller.ts';
import { hashToken } from '../../../src/core/people/token.ts';
import type { Db } from '../../../src/db/database.ts';
import { sql } from '../../../src/db/sql.ts';
import { lockLimits } from '../../../src/engine/fields/limit-rows.ts';
import { findSessionCaller } from '../../../src/features/people/statements/callers.ts';
import { listInvitations } from '../../../src/features/people/statements/invitations.ts';
import { acceptInvitation } from '../../../src/features/people/verbs/accept-invitation.ts';
import { changeRole, removeMember } from '../../../src/features/people/verbs/change-member.ts';
import { invite } from '../../../src/features/people/verbs/invite.ts';

const { db, close } = await openTestDatabase();
after(close);

async function twoOwners() {
  const { workspaceId, ownerId } = await addWorkspace(db);
  const otherId = await addMember(db, workspaceId, 'owner');
  const as = async (id: string) => (await findSessionCaller(db, id, workspaceId)) as Caller;
  return { workspaceId, first: await as(ownerId), second: await as(otherId) };
}

/** Blocks all of them on the workspace lock, then releases them together. */
async function atOnce(workspaceId: string, works: (() => Promise<unknown>)[]): Promise<string[]> {
  let all: Promise<string>[] = [];
  await db.transaction(async (trx) => {
    await lockLimits(trx, [workspaceId]);
    all = works.map((work) => work().then(() => 'done', codeOf));
    while ((await countBlocked(db)) < works.length) await wait(5);
  });
  return (await Promise.all(all)).sort();
}

function codeOf(error: unknown): string {
  if (error instanceof CallFailure) return error.code;
  throw error;
}

async function countBlocked(db: Db): Promise<number> {
  const { rows } = await sql`
    select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  return rows.length;
}

async function rolesOf(workspaceId: string): Promise<string[]> {
  const { rows } = await sql<{ role: string }>`
    select role from members where workspace_id = ${workspaceId} order by role`.execute(db);
  return rows.map(({ role }) => role);
}

test('two owners who demote each other concurrently leave one', async () => {
  const { workspaceId, first, second } = await twoOwners();
  const outcomes = await atOnce(workspaceId, [
    () => changeRole(db, first, second.id, 'viewer'),
    () => changeRole(db, second, first.id, 'viewer'),
  ]);
  assert.deepEqual(outcomes, ['PERMISSION_DENIED', 'done']);
  assert.deepEqual(await rolesOf(workspaceId), ['owner', 'viewer']);
});

test('two owners who demote themselves concurrently leave one', async () => {
  const { workspaceId, first, second } = await twoOwners();
  const outcomes = await atOnce(workspaceId, [
    () => changeRole(db, first, first.id, 'editor'),
    () => removeMember(db, second, second.id),
  ]);
  assert.deepEqual(outcomes, ['CONFLICT', 'done']);
  assert.ok((await rolesOf(workspaceId)).includes('owner'));
});

test('two owners who remove each other concurrently leave one', async () => {
  const { workspaceId, first, second } = await twoOwners();
  const outcomes = await atOnce(workspaceId, [
    () => removeMember(db, first, second.id),
    () => removeMember(db, second, first.id),
  ]);
  assert.deepEqual(outcomes, ['PERMISSION_DENIED', 'done']);
  assert.deepEqual(await rolesOf(workspaceId), ['owner']);
});

test('a member is removed only once', async () => {
  const { workspaceId, first, second } = await twoOwners();
  const memberId = await addMember(db, workspaceId, 'viewer');
  const outcomes = await atOnce(workspaceId, [
    () => removeMember(db, first, memberId),
    () => removeMember(db, second, memberId),
  ]);
  assert.deepEqual(outcomes, ['NOT_FOUND', 'done']);
});

test('a person who is joining cannot be invited', async () => {
  const { workspaceId, first, second } = await twoOwners();
  const email = 'coming@example.com';
  const { token } = await invite(db, first, { email, role: 'viewer', mails: false });
  const userId = await addMember(db, (await addWorkspace(db)).workspaceId, 'viewer');
  await sql`update users set email = ${email} where id = ${userId}`.execute(db);
  const acceptance = { tokenHash: hashToken(token), name: undefined, password: undefined };
  const outcomes: Promise<string>[] = [];
  const undone = db.transaction(async (trx) => {
    // Blocks the acceptance in its transaction until the rollback.
    await sql`
        insert into members (workspace_id, user_id, role)
        values (${workspaceId}, ${userId}, 'viewer')`.execute(trx);
    const works = [
      () => acceptInvitation(db, { ...acceptance, signedInAs: userId }, async () => ''),
      () => invite(db, second, { email, role: 'owner', mails: false }),
    ];
    for (const work of works) {
      outcomes.push(work().then(() => 'done', codeOf));
      while ((await countBlocked(db)) < outcomes.length) await wait(5);
    }
    throw new Error('undone');
  });
  await assert.rejects(undone, /undone/);
  assert.deepEqual(await Promise.all(outcomes), ['done', 'CONFLICT']);
  assert.deepEqual(await listInvitations(db, workspaceId), []);
});
