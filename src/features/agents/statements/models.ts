import type { Db } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';
import { type Viewer, visibleTo } from '../../people/statements/visible-agents.ts';

/** Agents as the models of the OpenAI API. */

export interface ModelRow {
  readonly id: string;
  readonly slug: string;
  readonly createdAt: Date;
}

/** The agents that the caller sees and that accept calls, by slug; only this one if given. */
export async function listModels(
  db: Db,
  viewer: Viewer,
  { agentId, limit }: { readonly agentId: string | null; readonly limit: number },
): Promise<ModelRow[]> {
  const { rows } = await sql<ModelRow>`
    select a.id, s.slug, a.created_at from agents a join slugs s on s.subject = a.id
    where ${visibleTo(viewer)} and a.archived_at is null and a.api_enabled
      and a.stage in ('Testing', 'Deployed') and (${agentId}::uuid is null or a.id = ${agentId})
    order by s.slug limit ${limit}`.execute(db);
  return rows;
}

/** The slug of an agent; null after its deletion. */
export async function findSlug(db: Db, subject: string): Promise<string | null> {
  const { rows } = await sql<{ slug: string }>`
    select slug from slugs where subject = ${subject}`.execute(db);
  return rows[0]?.slug ?? null;
}

/** The lists of messages of a prompt version. */
export async function findMessageLists(db: Db, versionId: string): Promise<readonly string[]> {
  const { rows } = await sql<{ messageLists: string[] }>`
    select message_lists from prompt_versions where id = ${versionId}`.execute(db);
  return rows[0]?.messageLists ?? [];
}
