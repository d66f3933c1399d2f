import { isName, slugMax } from '../../../core/slug.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';

/**
 * The names of a workspace: the slug of each agent and workflow, and the aliases of agents. The table `names` has both, so that
 * they are unique together; the view `slugs` has the slugs. Whatever takes a name holds the lock of `lockSlugs`, so a free one
 * stays free until it is written. Deleting an agent or workflow frees its names without the lock.
 */

/** Serializes what takes slugs and aliases in a workspace. Must be the first lock of the transaction. */
export async function lockSlugs(trx: Trx, workspaceId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`slugs ${workspaceId}`}, 0))`.execute(
    trx,
  );
}

/** The agent or workflow with this slug or alias, visible or not; null if it is free. */
export async function findNamed(db: Db, workspaceId: string, name: string): Promise<string | null> {
  // PostgreSQL accepts no NUL in a text.
  if (!isName(name)) return null;
  const { rows } = await sql<{ subject: string }>`
    select subject from names where workspace_id = ${workspaceId} and name = ${name}`.execute(db);
  return rows[0]?.subject ?? null;
}

/** Which of these slugs and aliases something other than `subject` has. */
export async function findTaken(
  db: Db,
  workspaceId: string,
  names: readonly string[],
  subject: string | null,
): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from names where workspace_id = ${workspaceId} and name = any (${names}::text[])
      and subject is distinct from ${subject}`.execute(db);
  return rows.map(({ name }) => name);
}

/** The slug itself or, if it is taken, with the first free suffix `-2`, `-3`, …. */
export async function freeSlug(trx: Trx, workspaceId: string, slug: string): Promise<string> {
  const { rows } = await sql<{ slug: string }>`
    select one.slug from (
      select n, case when n = 1 then ${slug} else left(${slug}, ${slugMax} - 1 - length(n::text)) || '-' || n end as slug
      from generate_series(1, 1 + (select count(*) from names where workspace_id = ${workspaceId})) as n) as one
    where not exists (select from names n where n.workspace_id = ${workspaceId} and n.name = one.slug)
    order by n limit 1`.execute(trx);
  if (!rows[0]) throw new Error('More names are taken than exist.');
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

export async function deleteAliases(trx: Trx, subject: string): Promise<void> {
  await sql`delete from names where subject = ${subject} and ordinal > 0`.execute(trx);
}

export async function insertAliases(
  db: Db,
  row: { readonly workspaceId: string; readonly subject: string },
  aliases: readonly string[],
): Promise<void> {
  await sql`
    insert into names (workspace_id, name, subject, ordinal)
    select ${row.workspaceId}, name, ${row.subject}, ordinal
    from unnest(${aliases}::text[]) with ordinality as aliases (name, ordinal)`.execute(db);
}

/** Frees the aliases as well. */
export async function deleteSlug(trx: Trx, subject: string): Promise<void> {
  await sql`delete from slugs where subject = ${subject}`.execute(trx);
}
