import type { Db, Trx } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

/** Saved views of executions: each member has their own, until the membership ends. */

export interface ViewRow {
  readonly id: string;
  readonly name: string;
  readonly search: string;
  readonly createdAt: Date;
}

export interface ViewOwner {
  readonly workspaceId: string;
  readonly userId: string;
}

const columns = sql`id, name, search, created_at`;

export async function listViews(db: Db, { workspaceId, userId }: ViewOwner): Promise<ViewRow[]> {
  const { rows } = await sql<ViewRow>`
    select ${columns} from saved_views where workspace_id = ${workspaceId} and user_id = ${userId}
    order by name, id`.execute(db);
  return rows;
}

/** Locks the membership, so that the number of views cannot change. False if it has ended. */
export async function lockViews(trx: Trx, { workspaceId, userId }: ViewOwner): Promise<boolean> {
  const { rows } = await sql`
    select from members where workspace_id = ${workspaceId} and user_id = ${userId} for no key update`.execute(
    trx,
  );
  return rows.length > 0;
}

export async function insertView(
  trx: Trx,
  { workspaceId, userId }: ViewOwner,
  { id, name, search }: Pick<ViewRow, 'id' | 'name' | 'search'>,
): Promise<ViewRow> {
  const { rows } = await sql<ViewRow>`
    insert into saved_views (id, workspace_id, user_id, name, search)
    values (${id}, ${workspaceId}, ${userId}, ${name}, ${search}) returning ${columns}`.execute(
    trx,
  );
  if (!rows[0]) throw new Error('The insert returned no row.');
  return rows[0];
}

/** Nulls leave a field unchanged. Null if the user has no such view. */
export async function updateView(
  trx: Trx,
  { workspaceId, userId }: ViewOwner,
  {
    id,
    name,
    search,
  }: { readonly id: string; readonly name: string | null; readonly search: string | null },
): Promise<ViewRow | null> {
  const { rows } = await sql<ViewRow>`
    update saved_views set name = coalesce(${name}, name), search = coalesce(${search}, search)
    where id = ${id} and workspace_id = ${workspaceId} and user_id = ${userId}
    returning ${columns}`.execute(trx);
  return rows[0] ?? null;
}

/** Views of all members of a workspace after an id. */
export async function listViewsOfWorkspace(
  db: Db,
  workspaceId: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<Pick<ViewRow, 'id' | 'name' | 'search'>[]> {
  const { rows } = await sql<Pick<ViewRow, 'id' | 'name' | 'search'>>`
    select id, name, search from saved_views where workspace_id = ${workspaceId} and id > ${after}
    order by id limit ${limit}`.execute(db);
  return rows;
}

export async function deleteViews(db: Db, ids: readonly string[]): Promise<void> {
  await sql`delete from saved_views where id = any(${ids}::uuid[])`.execute(db);
}

/** False if the user has no such view. */
export async function deleteView(
  db: Db,
  { workspaceId, userId }: ViewOwner,
  id: string,
): Promise<boolean> {
  const { rowCount } = await sql`
    delete from saved_views where id = ${id} and workspace_id = ${workspaceId} and user_id = ${userId}`.execute(
    db,
  );
  return rowCount > 0;
}
