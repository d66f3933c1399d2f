import { personalDays } from '../../../core/people/audit.ts';
import type { Role } from '../../../core/people/member.ts';
import { statementTime } from '../../../db/clock.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';
import { keyEnded } from './keys.ts';

/**
 * Invitations by link. Only the hash of the token is stored. An open invitation is neither accepted nor expired, and the
 * key that issued it, if one did, has not ended: its holder could otherwise return as a member.
 */

export interface InvitationRow {
  readonly id: string;
  readonly workspaceId: string;
  readonly email: string;
  readonly role: Role;
  readonly createdAt: Date;
  readonly invitedBy: string | null;
  readonly expiresAt: Date;
}

/** With the name of its workspace. */
export interface NamedInvitation extends InvitationRow {
  readonly workspaceName: string;
}

const columns = sql`id, workspace_id, email, role, created_at, invited_by, expires_at`;
const workspaceName = sql`(select name from workspaces w where w.id = workspace_id) as workspace_name`;
const open = sql`accepted_at is null and expires_at > clock_timestamp() and not exists (
  select from api_keys k where k.id = invitations.api_key_id and ${keyEnded})`;

export interface NewInvitation {
  readonly id: string;
  readonly workspaceId: string;
  readonly email: string;
  readonly role: Role;
  readonly tokenHash: Buffer;
  readonly invitedBy: string | null;
  /** The key that issues it, if one does. */
  readonly apiKeyId: string | null;
  readonly days: number;
}

/** Replaces the previous invitation of the address, expired or not. */
export async function replaceInvitation(
  trx: Trx,
  invitation: NewInvitation,
): Promise<NamedInvitation> {
  const { id, workspaceId, email, role, tokenHash, invitedBy, apiKeyId, days } = invitation;
  await sql`
    delete from invitations
    where workspace_id = ${workspaceId} and email = ${email} and accepted_at is null`.execute(trx);
  const { rows } = await sql<NamedInvitation>`
    insert into invitations (id, workspace_id, email, role, token_hash, invited_by, api_key_id, expires_at)
    values (${id}, ${workspaceId}, ${email}, ${role}, ${tokenHash}, ${invitedBy}, ${apiKeyId},
      clock_timestamp() + make_interval(days => ${days}))
    returning ${columns}, ${workspaceName}`.execute(trx);
  return rows[0] as NamedInvitation;
}

export async function listInvitations(db: Db, workspaceId: string): Promise<InvitationRow[]> {
  const { rows } = await sql<InvitationRow>`
    select ${columns} from invitations where workspace_id = ${workspaceId} and ${open}
    order by created_at, id`.execute(db);
  return rows;
}

/** Open invitations of other addresses than this one. */
export async function countOtherInvitations(
  db: Db,
  workspaceId: string,
  email: string,
): Promise<number> {
  const { rows } = await sql<{ open: number }>`
    select count(*)::int as open from invitations
    where workspace_id = ${workspaceId} and email <> ${email} and ${open}`.execute(db);
  return rows[0]?.open ?? 0;
}

export async function findInvitation(db: Db, tokenHash: Buffer): Promise<NamedInvitation | null> {
  const { rows } = await sql<NamedInvitation>`
    select ${columns}, ${workspaceName}
    from invitations where token_hash = ${tokenHash} and ${open}`.execute(db);
  return rows[0] ?? null;
}

/** Accepts an open invitation. Of concurrent calls one succeeds: the others wait for the row and find it accepted. */
export async function markInvitationAccepted(trx: Trx, tokenHash: Buffer): Promise<boolean> {
  const { rowCount } = await sql`
    update invitations set accepted_at = clock_timestamp()
    where token_hash = ${tokenHash} and ${open}`.execute(trx);
  return rowCount === 1;
}

/** False if the workspace has no such open invitation. */
export async function deleteInvitation(
  db: Db,
  workspaceId: string,
  invitationId: string,
): Promise<boolean> {
  const { rowCount } = await sql`
    delete from invitations
    where id = ${invitationId} and workspace_id = ${workspaceId} and ${open}`.execute(db);
  return rowCount === 1;
}

/** Deletes the open invitations of a user that may no longer invite. */
export async function deleteInvitationsBy(
  trx: Trx,
  workspaceId: string,
  userId: string,
): Promise<void> {
  await sql`
    delete from invitations
    where workspace_id = ${workspaceId} and invited_by = ${userId} and accepted_at is null`.execute(
    trx,
  );
}

/** Deletes the accepted invitations of an address. */
export async function deleteAcceptedInvitations(trx: Trx, email: string): Promise<void> {
  await sql`
    delete from invitations where email = ${email} and accepted_at is not null`.execute(trx);
}

/** Deletes up to `limit` invitations that were accepted or expired long ago. Returns how many. */
export async function deleteOldInvitations(db: Db, limit: number): Promise<number> {
  const { rowCount } = await sql`
    delete from invitations where id in (
      select id from invitations
      where coalesce(accepted_at, expires_at) < ${statementTime} - make_interval(days => ${personalDays})
      limit ${limit} for update skip locked)`.execute(db);
  return rowCount;
}

/** Whether any workspace has an open invitation for this address. */
export async function isInvited(db: Db, email: string): Promise<boolean> {
  const { rows } = await sql`
    select from invitations where email = ${email} and ${open} limit 1`.execute(db);
  return rows.length > 0;
}
