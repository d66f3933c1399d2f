import { CallFailure } from '../../../core/failure.ts';
import type { Role } from '../../../core/people/member.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { type Sql, sql } from '../../../db/sql.ts';
import { lockLimits } from '../../../engine/fields/limit-rows.ts';
import { lockKeys } from './keys.ts';

/** The members of a workspace and their roles. */

export interface MemberRow {
  readonly userId: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly joinedAt: Date;
}

const columns = sql`m.user_id, u.email, u.name, m.role, m.created_at as joined_at`;

export async function listMembers(db: Db, workspaceId: string): Promise<MemberRow[]> {
  const { rows } = await sql<MemberRow>`
    select ${columns} from members m join users u on u.id = m.user_id
    where m.workspace_id = ${workspaceId}
    order by m.created_at, m.user_id`.execute(db);
  return rows;
}

export async function findMember(
  db: Db,
  workspaceId: string,
  userId: string,
): Promise<MemberRow | null> {
  const { rows } = await sql<MemberRow>`
    select ${columns} from members m join users u on u.id = m.user_id
    where m.workspace_id = ${workspaceId} and m.user_id = ${userId}`.execute(db);
  return rows[0] ?? null;
}

export async function isMember(db: Db, workspaceId: string, email: string): Promise<boolean> {
  const { rows } = await sql`
    select from members m join users u on u.id = m.user_id
    where m.workspace_id = ${workspaceId} and u.email = ${email}`.execute(db);
  return rows.length > 0;
}

export interface Membership {
  readonly workspaceId: string;
  readonly name: string;
  readonly role: Role;
}

/** SQL: orders the memberships `m` of a user. Workspaces that the user owns come first; the others are by invitation. */
export const ownWorkspacesFirst = sql`(m.role = 'owner') desc, m.created_at, m.workspace_id`;

/** The workspaces of a user. A session without a named workspace uses the first one. */
export async function listMemberships(db: Db, userId: string): Promise<Membership[]> {
  const { rows } = await sql<Membership>`
    select w.id as workspace_id, w.name, m.role
    from members m join workspaces w on w.id = m.workspace_id
    where m.user_id = ${userId}
    order by ${ownWorkspacesFirst}`.execute(db);
  return rows;
}

/** False if the user is a member already. */
export async function addMember(
  trx: Trx,
  member: { readonly workspaceId: string; readonly userId: string; readonly role: Role },
): Promise<boolean> {
  const { rowCount } = await sql`
    insert into members (workspace_id, user_id, role)
    values (${member.workspaceId}, ${member.userId}, ${member.role})
    on conflict do nothing`.execute(trx);
  return rowCount === 1;
}

/**
 * Locks everything that a change of this membership affects: the limits of the member's keys, and those of the workspace,
 * which also serializes changes of its members.
 */
export async function lockMembership(trx: Trx, workspaceId: string, userId: string): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select id from api_keys where workspace_id = ${workspaceId} and issued_by = ${userId}`.execute(
    trx,
  );
  await lockKeys(
    trx,
    rows.map((key) => key.id),
  );
  await lockLimits(trx, [workspaceId]);
}

/**
 * The memberships of a user, locked like `lockMembership` does in each workspace, together with the user: nobody can add
 * another one. Throws if one was added between.
 */
export async function lockMemberships(trx: Trx, userId: string): Promise<Membership[]> {
  const { rows: keys } = await sql<{ id: string }>`
    select id from api_keys where issued_by = ${userId}`.execute(trx);
  await lockLimits(
    trx,
    keys.map(({ id }) => id),
  );
  const before = await listMemberships(trx, userId);
  await lockLimits(
    trx,
    before.map(({ workspaceId }) => workspaceId),
  );
  // In the order in which issuing a key locks them.
  await sql`
    select from members where user_id = ${userId} order by workspace_id for update`.execute(trx);
  await sql`select from users where id = ${userId} for update`.execute(trx);
  const memberships = await listMemberships(trx, userId);
  const isLocked = (id: string) => before.some(({ workspaceId }) => workspaceId === id);
  if (memberships.every(({ workspaceId }) => isLocked(workspaceId))) return memberships;
  throw new CallFailure('CONFLICT', 'You joined a workspace at the same time. Try again.');
}

export async function hasOtherOwner(
  trx: Trx,
  workspaceId: string,
  userId: string,
): Promise<boolean> {
  const { rows } = await sql`
    select from members
    where workspace_id = ${workspaceId} and role = 'owner' and user_id <> ${userId} limit 1`.execute(
    trx,
  );
  return rows.length > 0;
}

export async function setRole(
  trx: Trx,
  workspaceId: string,
  userId: string,
  role: Role,
): Promise<void> {
  await sql`
    update members set role = ${role}
    where workspace_id = ${workspaceId} and user_id = ${userId}`.execute(trx);
}

/**
 * Deletes a membership and revokes the keys that the member issued, including those in their grace period, and the keys
 * that these have issued. Returns the revoked keys.
 */
export async function deleteMember(
  trx: Trx,
  workspaceId: string,
  userId: string,
): Promise<string[]> {
  await sql`
    delete from members where workspace_id = ${workspaceId} and user_id = ${userId}`.execute(trx);
  return revokeWhere(trx, workspaceId, sql`(k.issued_by = ${userId} or ${issuedByKeysOf(userId)})`);
}

/** Revokes the keys that keys of this member have issued: the member may issue keys no longer. */
export function revokeIssuedByKeys(
  trx: Trx,
  workspaceId: string,
  userId: string,
): Promise<string[]> {
  return revokeWhere(trx, workspaceId, issuedByKeysOf(userId));
}

/** SQL: whether a key of this user has issued key `k`, or the key that issued it, and so on. */
function issuedByKeysOf(userId: string) {
  return sql`k.issuing_keys && array(
    select own.id from api_keys own where own.workspace_id = k.workspace_id and own.issued_by = ${userId})`;
}

async function revokeWhere(trx: Trx, workspaceId: string, condition: Sql): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update api_keys set revoked_at = clock_timestamp()
    where id in (
      select k.id from api_keys k
      where k.workspace_id = ${workspaceId} and ${condition}
        and (k.revoked_at is null or k.revoked_at > clock_timestamp())
      order by k.id for update)
    returning id`.execute(trx);
  return rows.map(({ id }) => id);
}
