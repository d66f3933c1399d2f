import type { Template } from '../../core/agent/prompt.ts';
import type { Db } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { contentColumns, contentOf, type StoredContent } from './version-columns.ts';

/** The templates of a prompt version, and the format of its output. Versions are immutable, so callers may cache them. */
export async function readTemplate(db: Db, promptVersionId: string): Promise<Template | null> {
  const { rows } = await sql<StoredContent & { readonly format: string | null }>`
    select ${contentColumns}, v.response_format as format
    from prompt_versions v where v.id = ${promptVersionId}`.execute(db);
  if (!rows[0]) return null;
  const { format } = rows[0];
  return { ...contentOf(rows[0]), responseFormat: format === null ? null : JSON.parse(format) };
}
