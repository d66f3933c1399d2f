import { sql } from 'kysely';
import type { Template } from '../../core/agent/prompt.ts';
import type { Db } from '../connection/database.ts';

/** The templates of a prompt version. Versions are immutable, so callers may cache them. */
export async function readTemplate(db: Db, promptVersionId: string): Promise<Template | null> {
  const { rows } = await sql<Template>`
    select system_template as system, user_template as "user"
    from prompt_versions where id = ${promptVersionId}`.execute(db);
  return rows[0] ?? null;
}
