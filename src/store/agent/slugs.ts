import { sql } from 'kysely';
import { isSlug, slugMax } from '../../core/slug.ts';
import type { Db, Trx } from '../connection/database.ts';

/**
 * The slugs of a workspace, one row for each agent and workflow. Whatever takes a slug holds the lock of `lockSlugs`, so a
 * free slug stays free until it is written. Deleting an agent or workflow frees its slug without the lock.
 */

/** Serializes what takes slugs in a workspace. Must be the first lock of the transaction. */
export async function lockSlugs(trx: Trx, workspaceId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`slugs ${workspaceId}`}, 0))`.execute(
    trx,
  );
}

/** The agent or workflow with this slug, visible or not; null if the slug is free. */
export async function findSlugSubject(
  db: Db,
  workspaceId: string,
  slug: string,
): Promise<string | null> {
  // PostgreSQL accepts no NUL in a text.
  if (!isSlug(slug)) return null;
  const { rows } = await sql<{ subject: string }>`
    select subject from slugs where workspace_id = ${workspaceId} and slug = ${slug}`.execute(db);
  return rows[0]?.subject ?? null;
}

/** The slug itself or, if it is taken, with the first free suffix `-2`, `-3`, …. */
export async function freeSlug(trx: Trx, workspaceId: string, slug: string): Promise<string> {
  const { rows } = await sql<{ slug: string }>`
    select one.slug from (
      select n, case when n = 1 then ${slug} else left(${slug}, ${slugMax} - 1 - length(n::text)) || '-' || n end as slug
      from generate_series(1, 1 + (select count(*) from slugs where workspace_id = ${workspaceId})) as n) as one
    where not exists (select from slugs s where s.workspace_id = ${workspaceId} and s.slug = one.slug)
    order by n limit 1`.execute(trx);
  if (!rows[0]) throw new Error('More slugs than agents and workflows exist.');
  return rows[0].slug;
}

export async function insertSlug(
  db: Db,
  row: { readonly workspaceId: string; readonly slug: string; readonly subject: string },
): Promise<void> {
  await sql`
    insert into slugs (workspace_id, slug, subject)
    values (${row.workspaceId}, ${row.slug}, ${row.subject})`.execute(db);
}

export async function updateSlug(trx: Trx, subject: string, slug: string): Promise<void> {
  await sql`update slugs set slug = ${slug} where subject = ${subject}`.execute(trx);
}

export async function deleteSlug(trx: Trx, subject: string): Promise<void> {
  await sql`delete from slugs where subject = ${subject}`.execute(trx);
}
