import { createHash } from 'node:crypto';
import type { Db, Trx } from '../../../db/database.ts';
import { rowTable } from '../../../db/row-set.ts';
import { sql } from '../../../db/sql.ts';

/** Saved views of executions: each member has their own, until the membership ends. */

export interface SavedView {
  readonly name: string;
  /** The filters, as the query of the list. */
  readonly search: string;
}

export interface MemberViews {
  /** By name. */
  readonly views: readonly SavedView[];
  /** The same for the same views. */
  readonly revision: number;
}

export interface ViewOwner {
  readonly workspaceId: string;
  readonly userId: string;
}

export async function readViews(db: Db, { workspaceId, userId }: ViewOwner): Promise<MemberViews> {
  const { rows: views } = await sql<SavedView>`
    select name, search from saved_views where workspace_id = ${workspaceId} and user_id = ${userId}
    order by name`.execute(db);
  const digest = createHash('sha256').update(JSON.stringify(views)).digest();
  return { views, revision: digest.readUIntBE(0, 6) };
}

/** Locks the membership, so that nobody else replaces the views. False if it has ended. */
export async function lockViews(trx: Trx, { workspaceId, userId }: ViewOwner): Promise<boolean> {
  const { rows } = await sql`
    select from members where workspace_id = ${workspaceId} and user_id = ${userId} for no key update`.execute(
    trx,
  );
  return rows.length > 0;
}

/** Needs the lock. */
export async function writeViews(
  trx: Trx,
  { workspaceId, userId }: ViewOwner,
  views: readonly SavedView[],
): Promise<void> {
  await sql`
    delete from saved_views where workspace_id = ${workspaceId} and user_id = ${userId}`.execute(
    trx,
  );
  const table = rowTable<SavedView>(
    'v',
    { name: ['text', ({ name }) => name], search: ['text', ({ search }) => search] },
    views,
  );
  await sql`
    insert into saved_views (id, workspace_id, user_id, name, search)
    select gen_random_uuid(), ${workspaceId}, ${userId}, v.name, v.search from ${table}`.execute(
    trx,
  );
}

/** Views of all members of a workspace after an id. */
export async function listViewsOfWorkspace(
  db: Db,
  workspaceId: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<(SavedView & { readonly id: string })[]> {
  const { rows } = await sql<SavedView & { id: string }>`
    select id, name, search from saved_views where workspace_id = ${workspaceId} and id > ${after}
    order by id limit ${limit}`.execute(db);
  return rows;
}

export async function deleteViews(db: Db, ids: readonly string[]): Promise<void> {
  await sql`delete from saved_views where id = any(${ids}::uuid[])`.execute(db);
}
