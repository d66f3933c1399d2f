import type { Db } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';

/** Drafts are rows of `prompt_versions` that belong to no prompt (`verbs/create-draft.ts`). */

export const draftLabel = 'draft';

/** What a draft needs of the agent that executes it; null if there is no such agent. */
export async function findDraftTarget(
  db: Db,
  workspaceId: string,
  agentId: string,
): Promise<{ readonly promptId: string; readonly hasModel: boolean } | null> {
  const { rows } = await sql<{ promptId: string; hasModel: boolean }>`
    select prompt_id, config ? 'model' as has_model from agents
    where id = ${agentId} and workspace_id = ${workspaceId} and deleted_at is null`.execute(db);
  return rows[0] ?? null;
}

/**
 * Deletes the drafts among the next ones after `after` that have no execution: a call was refused, or a month was removed, or a
 * process of the previous version deleted the record. A draft is executed soon after it is stored, or not at all. Returns the
 * last one that was looked at; null after the end.
 */
export async function sweepDrafts(
  db: Db,
  after: string | null,
  limit: number,
): Promise<string | null> {
  const { rows } = await sql<{ last: string | null }>`
    with looked as materialized (
      select id from prompt_versions
      where draft_of is not null and created_at < clock_timestamp() - interval '15 minutes'
        and (${after}::uuid is null or id > ${after})
      order by id limit ${limit}),
    deleted as (
      delete from prompt_versions v using looked
      where v.id = looked.id and not exists (
        select from all_executions e
        where e.agent_id = v.draft_agent_id and e.prompt_version_id = v.id
          and e.id between id_floor(v.created_at - interval '1 minute') and id_floor(v.created_at + interval '20 minutes')))
    select case when count(*) = ${limit} then (select id from looked order by id desc limit 1) end as last
    from looked`.execute(db);
  return rows[0]?.last ?? null;
}
