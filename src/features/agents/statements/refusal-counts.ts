import type { Db } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';
import { refusalDays } from '../../../engine/run/maintenance.ts';
import { type Viewer, visibleTo } from '../../people/statements/visible-agents.ts';

/** The refusals of the last days, which admission counts (`engine/admit/counted-refusals.ts`). */

export interface RefusalCountRow {
  readonly agentId: string;
  readonly apiKeyId: string;
  readonly code: string;
  readonly count: number;
  readonly lastMessage: string;
  readonly lastAt: Date;
}

const shownMax = 1_000;

/** Those of an agent or a key, for agents that the viewer sees: each agent, key and code once, the latest first. */
export async function readRefusalCounts(
  db: Db,
  viewer: Viewer,
  of: { readonly agentId: string } | { readonly apiKeyId: string },
): Promise<RefusalCountRow[]> {
  const wanted =
    'agentId' in of ? sql`r.agent_id = ${of.agentId}` : sql`r.api_key_id = ${of.apiKeyId}`;
  const { rows } = await sql<RefusalCountRow>`
    select r.agent_id, r.api_key_id, r.code, sum(r.refused)::float8 as count, max(r.last_at) as last_at,
      (array_agg(r.last_message order by r.last_at desc))[1] as last_message
    from refusal_counts r join agents a on a.id = r.agent_id
    where ${wanted} and ${visibleTo(viewer)}
      and r.day > (clock_timestamp() at time zone 'UTC')::date - ${refusalDays}::int
    group by r.agent_id, r.api_key_id, r.code
    order by max(r.last_at) desc, r.code limit ${shownMax}`.execute(db);
  return rows;
}
