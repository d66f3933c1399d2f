import type { IdRange } from '../../../core/history/history-range.ts';
import type { Trx } from '../../../db/database.ts';
import { aboveFloor } from '../../../db/id-bounds.ts';
import { type Sql, sql } from '../../../db/sql.ts';
import { sessionExecutionsMax } from '../../../http/contract/contract-limits.ts';
import {
  enclosingRange,
  endedRecords,
  type HistoryRequest,
  inListedRange,
  inRange,
  matchesFilter,
  ofAgents,
  rangeRows,
} from './history-filter.ts';

/** The sessions of records, in the snapshot of the given transaction. */

/** The newest record of a session. */
export interface SessionHead {
  readonly id: string;
  readonly session: string;
}

export interface SessionRow extends SessionHead {
  readonly user: string | null;
  readonly executions: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
  readonly costUsd: string;
  readonly costKnown: boolean;
  readonly failures: number;
}

/** Whether any record of the workspace has a session, whoever sees it. */
export async function hasSessions(trx: Trx, request: HistoryRequest): Promise<boolean> {
  const { rows } = await sql<{ exists: boolean }>`
    select exists (select from executions e
      where e.workspace_id = ${workspaceOf(request)} and e.session is not null)`.execute(trx);
  return rows[0]?.exists ?? false;
}

/** The sessions whose newest record is in these ranges, the newest first. */
export async function findSessionHeads(
  trx: Trx,
  request: HistoryRequest,
  ranges: readonly IdRange[],
): Promise<SessionHead[]> {
  const { rows } = await sql<SessionHead>`
    with newest as materialized (
      select distinct on (one.session) one.id, one.session, one.workspace_id from ${rangeRows(ranges)}
      cross join lateral (
        select e.id, e.session, e.workspace_id from executions e
        where ${endedRecords(request)} and e.session is not null and ${matchesFilter(request)}
          and ${inListedRange} and ${inRange(enclosingRange(ranges))}) as one
      order by one.session, one.id desc)
    select n.id, n.session from newest n
    where not exists (
      select from executions e where e.workspace_id = n.workspace_id and e.session = n.session and e.id > n.id
        and ${ofSameSession(request)})
    order by n.id desc`.execute(trx);
  return rows;
}

/** What the records of these sessions add up to, in their order. */
export async function readSessions(
  trx: Trx,
  request: HistoryRequest,
  heads: readonly SessionHead[],
): Promise<SessionRow[]> {
  const { rows } = await sql<SessionRow>`
    select h.id, h.session, (array_agg(e.end_user order by e.id desc))[1] as "user", count(*)::int as executions,
      min(e.executed_at) as first_at, max(e.executed_at) as last_at, sum(e.cost_usd)::text as cost_usd,
      bool_and(e.cost_known) as cost_known, (count(*) filter (where e.status = 'failed'))::int as failures
    from unnest(${heads.map(({ id }) => id)}::uuid[], ${heads.map(({ session }) => session)}::text[]) as h (id, session)
    cross join lateral (
      select e.* from executions e
      where e.workspace_id = ${workspaceOf(request)} and e.session = h.session and ${ofSameSession(request)}
      order by e.id desc limit ${sessionExecutionsMax + 1}) as e
    group by h.id, h.session order by h.id desc`.execute(trx);
  return rows;
}

function ofSameSession(request: HistoryRequest): Sql {
  return sql`${ofAgents('e.agent_id', request)} and ${aboveFloor} and ${matchesFilter(request)}`;
}

/** SQL: the workspace of the agents, by which sessions have an index. */
function workspaceOf({ agentIds }: HistoryRequest): Sql {
  return sql`(select a.workspace_id from agents a where a.id = ${agentIds[0] ?? null}::uuid)`;
}
