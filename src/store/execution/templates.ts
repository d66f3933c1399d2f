import { sql } from 'kysely';
import type { Template, VersionTemplate } from '../../core/agent/prompt.ts';
import type { Db } from '../connection/database.ts';

/** The templates of a prompt version, and the format of its output. Versions are immutable, so callers may cache them. */
export async function readTemplate(
  db: Db,
  promptVersionId: string,
): Promise<VersionTemplate | null> {
  const { rows } = await sql<Template & { readonly format: string | null }>`
    select system_template as system, user_template as "user", response_format as format
    from prompt_versions where id = ${promptVersionId}`.execute(db);
  if (!rows[0]) return null;
  const { format, ...template } = rows[0];
  return { ...template, responseFormat: format === null ? null : JSON.parse(format) };
}
