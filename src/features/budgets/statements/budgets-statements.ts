import type { Db, Trx } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';
import type { BudgetSettings, MatchedBudget } from '../rules/budget-settings.ts';

/** The budgets of a workspace. Whoever changes them holds its limits, as admission does when it reads them. */

export interface BudgetRow extends BudgetSettings {
  readonly id: string;
  readonly revision: number;
  readonly createdBy: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const columns = sql`b.id, b.name, b.agent_ids, b.api_key_ids, b.tags, b.per, b.period, trim_scale(b.limit_usd) as limit_usd, b.max_tokens, b.thresholds,
  b.on_unknown, b.enabled, b.revision, b.created_by, b.created_at, b.updated_at`;

/** Oldest first. */
export async function listBudgets(db: Db, workspaceId: string): Promise<BudgetRow[]> {
  const { rows } = await sql<BudgetRow>`
    select ${columns} from budgets b where b.workspace_id = ${workspaceId} order by b.id`.execute(
    db,
  );
  return rows;
}

export async function findBudget(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<BudgetRow | null> {
  const { rows } = await sql<BudgetRow>`
    select ${columns} from budgets b where b.id = ${id} and b.workspace_id = ${workspaceId}`.execute(
    db,
  );
  return rows[0] ?? null;
}

/** Whether a worker of an earlier version runs, which would call models beside the budgets. */
export async function hasCarelessWorkers(trx: Trx): Promise<boolean> {
  const { rows } = await sql`select from workers where not keeps_budgets limit 1`.execute(trx);
  return rows.length > 0;
}

export async function insertBudget(
  trx: Trx,
  budget: BudgetSettings & {
    readonly id: string;
    readonly workspaceId: string;
    readonly createdBy: string | null;
  },
): Promise<void> {
  const { id, workspaceId, name, agentIds, apiKeyIds, tags, per, period, limitUsd } = budget;
  const { maxTokens, thresholds, onUnknown, enabled, createdBy } = budget;
  await sql`
    insert into budgets (id, workspace_id, name, agent_ids, api_key_ids, tags, per, period, limit_usd, max_tokens,
      thresholds, on_unknown, enabled, created_by)
    values (${id}, ${workspaceId}, ${name}, ${agentIds}::uuid[], ${apiKeyIds}::uuid[], ${tags}::text[], ${per}, ${period},
      ${limitUsd}, ${maxTokens}, ${thresholds}::int[], ${onUnknown}, ${enabled}, ${createdBy})`.execute(
    trx,
  );
}

export async function writeBudget(trx: Trx, id: string, settings: BudgetSettings): Promise<void> {
  const { name, agentIds, apiKeyIds, tags, limitUsd, maxTokens, thresholds } = settings;
  const { onUnknown, enabled } = settings;
  await sql`
    update budgets set name = ${name}, agent_ids = ${agentIds}::uuid[], api_key_ids = ${apiKeyIds}::uuid[],
      tags = ${tags}::text[], limit_usd = ${limitUsd}, max_tokens = ${maxTokens}, thresholds = ${thresholds}::int[],
      on_unknown = ${onUnknown}, enabled = ${enabled}, revision = revision + 1, updated_at = clock_timestamp()
    where id = ${id}`.execute(trx);
}

/** Its windows are deleted in the background. False if it does not exist. */
export async function deleteBudget(trx: Trx, id: string): Promise<void> {
  await sql`delete from budgets where id = ${id}`.execute(trx);
}

/** The enabled budgets with the keys of their scopes. */
export async function readMatchedBudgets(
  trx: Trx,
  workspaceId: string,
): Promise<(MatchedBudget & { readonly id: string })[]> {
  const { rows } = await sql<MatchedBudget & { readonly id: string }>`
    select b.id, b.agent_ids, case when b.api_key_ids is not null then (
        select coalesce(jsonb_agg(jsonb_build_object(
          'limitSubject', k.limit_subjects[1], 'issues', 'manage' = any (k.permissions))), '[]')
        from api_keys k where k.id = any (b.api_key_ids)) end as keys
    from budgets b where b.workspace_id = ${workspaceId} and b.enabled`.execute(trx);
  return rows;
}

/** How many of these keys the workspace has, ended ones included. */
export async function countKeys(
  trx: Trx,
  workspaceId: string,
  keyIds: readonly string[],
): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from api_keys where workspace_id = ${workspaceId} and id = any (${keyIds}::uuid[])`.execute(
    trx,
  );
  return rows[0]?.n ?? 0;
}

export interface UnboundedAgent {
  readonly agentId: string;
  readonly agentName: string;
}

/** The first agents by name, among these or all, that have no `maxTokens`. */
export async function listUnboundedAgents(
  db: Db,
  workspaceId: string,
  { agentIds }: Pick<BudgetSettings, 'agentIds'>,
  limit: number,
): Promise<UnboundedAgent[]> {
  const among = agentIds === null ? sql`` : sql`and a.id = any (${agentIds}::uuid[])`;
  const { rows } = await sql<UnboundedAgent>`
    select a.id as agent_id, a.name as agent_name
    from agents a join prompt_versions v on v.id = a.prompt_version_id
    where a.workspace_id = ${workspaceId} and a.deleted_at is null and a.archived_at is null ${among}
      and a.config ->> 'maxTokens' is null and v.max_tokens is null
    order by a.name, a.id limit ${limit}`.execute(db);
  return rows;
}

/** The key whose limits a key shares: itself, or the first of those that it was rotated from. */
export async function findLimitSubject(
  db: Db,
  workspaceId: string,
  keyId: string,
): Promise<string | null> {
  const { rows } = await sql<{ subject: string }>`
    select limit_subjects[1] as subject from api_keys where id = ${keyId} and workspace_id = ${workspaceId}`.execute(
    db,
  );
  return rows[0]?.subject ?? null;
}
