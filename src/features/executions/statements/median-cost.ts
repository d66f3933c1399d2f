import type { Db } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';

/** Executions that the median is of, and those of the agent among which they are looked for. */
const medianOf = 1_000;
const lookedAtMax = 10_000;

/** The median of the known costs of the last executions of an agent with a version that called a model, in US dollars; null without one. */
export async function readMedianCost(
  db: Db,
  { agentId, versionId }: { readonly agentId: string; readonly versionId: string },
): Promise<string | null> {
  const { rows } = await sql<{ usd: string | null }>`
    with latest as (
      select prompt_version_id, cost_usd, cost_known, attempts from executions
      where agent_id = ${agentId} order by id desc limit ${lookedAtMax}),
    priced as (
      select cost_usd from latest where prompt_version_id = ${versionId} and cost_known and attempts > 0
      limit ${medianOf})
    select percentile_disc(0.5) within group (order by cost_usd)::text as usd from priced`.execute(
    db,
  );
  return rows[0]?.usd ?? null;
}
