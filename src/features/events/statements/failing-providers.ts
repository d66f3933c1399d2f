import type { Db, Trx } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';

/** Providers whose failure was reported, each with a model, until their recovery is. */

export interface ProviderModel {
  readonly workspaceId: string;
  readonly provider: string;
  readonly model: string;
}

/** Returns the database time; null if the failure was reported already, or nobody subscribes to such events. */
export async function markFailing(
  trx: Trx,
  { workspaceId, provider, model }: ProviderModel,
): Promise<number | null> {
  const { rows } = await sql<{ nowMs: number }>`
    insert into failing_providers (workspace_id, provider, model)
    select ${workspaceId}, ${provider}, ${model}
    where exists (
      select from active_endpoints p where p.workspace_id = ${workspaceId}
        and p.event_types && '{provider.failing,provider.recovered}')
    on conflict do nothing
    returning (extract(epoch from since) * 1000)::float8 as now_ms`.execute(trx);
  return rows[0]?.nowMs ?? null;
}

/** Returns the database time; null if no failure was reported. */
export async function markRecovered(
  db: Db,
  { workspaceId, provider, model }: ProviderModel,
): Promise<number | null> {
  const { rows } = await sql<{ nowMs: number }>`
    delete from failing_providers
    where workspace_id = ${workspaceId} and provider = ${provider} and model = ${model}
    returning (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`.execute(db);
  return rows[0]?.nowMs ?? null;
}
