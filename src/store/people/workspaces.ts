import { sql } from 'kysely';
import type { Db, Trx } from '../connection/database.ts';

export interface WorkspaceOwner {
  readonly workspaceId: string;
  readonly ownerId: string;
  readonly email: string;
}

/** The oldest workspace with the owner who is longest in it; null where there is no workspace yet. */
export async function findFirstWorkspace(db: Db): Promise<WorkspaceOwner | null> {
  const { rows } = await sql<WorkspaceOwner>`
    select w.id as workspace_id, u.id as owner_id, u.email
    from workspaces w
    join members m on m.workspace_id = w.id and m.role = 'owner'
    join users u on u.id = m.user_id
    order by w.created_at, w.id, m.created_at, u.id limit 1`.execute(db);
  return rows[0] ?? null;
}

/** A workspace, and the row that its AI Actions are counted in. */
export async function createWorkspace(
  trx: Trx,
  workspace: { readonly id: string; readonly name: string },
): Promise<void> {
  await sql`
    with made as (insert into workspaces (id, name) values (${workspace.id}, ${workspace.name}))
    insert into limits (subject) values (${workspace.id})`.execute(trx);
}

/** Until the transaction ends, no other process makes a first workspace. */
export async function lockFirstWorkspace(trx: Trx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${firstWorkspaceLock})`.execute(trx);
}

/** Any number that nothing else locks. */
const firstWorkspaceLock = 7_216_305;
