import { sql } from 'kysely';
import type { Template } from '../../core/agent/prompt.ts';
import { contentColumns, contentOf, type StoredContent } from '../agent/version-content.ts';
import type { Db } from '../connection/database.ts';

/** The templates of a prompt version. Versions are immutable, so callers may cache them. */
export async function readTemplate(db: Db, promptVersionId: string): Promise<Template | null> {
  const { rows } = await sql<StoredContent>`
    select ${sql.raw(contentColumns)} from prompt_versions v where v.id = ${promptVersionId}`.execute(
    db,
  );
  return rows[0] ? contentOf(rows[0]) : null;
}
