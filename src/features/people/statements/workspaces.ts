import type { Db, Trx } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';

export interface WorkspaceOwner {
  readonly workspaceId: string;
  readonly ownerId: string;
  readonly email: string;
}

/** The oldest workspace with its longest-standing owner; null if there is no workspace. */
export async function findFirstWorkspace(db: Db): Promise<WorkspaceOwner | null> {
  const { rows } = await sql<WorkspaceOwner>`
    select w.id as workspace_id, u.id as owner_id, u.email
    from workspaces w
    join members m on m.workspace_id = w.id and m.role = 'owner'
    join users u on u.id = m.user_id
    order by w.created_at, w.id, m.created_at, u.id limit 1`.execute(db);
  return rows[0] ?? null;
}

/** Inserts a workspace and the row of limits that counts its AI Actions. */
export async function createWorkspace(
  trx: Trx,
  workspace: { readonly id: string; readonly name: string },
): Promise<void> {
  await sql`
    with inserted as (insert into workspaces (id, name) values (${workspace.id}, ${workspace.name}))
    insert into limits (subject) values (${workspace.id})`.execute(trx);
}

export async function updateName(trx: Trx, workspaceId: string, name: string): Promise<void> {
  await sql`update workspaces set name = ${name} where id = ${workspaceId}`.execute(trx);
}

/** Prevents other processes from creating a first workspace until the transaction ends. */
export async function lockFirstWorkspace(trx: Trx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${firstWorkspaceLock})`.execute(trx);
}

/** An arbitrary advisory lock id. */
const firstWorkspaceLock = 7_216_305;
