import type { CalledTool } from '../../core/tools/tool-port.ts';
import type { Db } from '../../db/database.ts';
import { type Sql, sql } from '../../db/sql.ts';

/**
 * The tools that calls are sent to: the SQL to read them together with the dispatch of a call, so that no call needs a query of its
 * own and a change of a server holds from the next dispatch, and the conversion of a row.
 */

/** SQL: the columns of `CalledToolRow`; needs `calledToolJoin`. */
export const calledToolColumns = sql`called.server_id, called.workspace_id, called.url, called.enabled, called.max_concurrency,
  called.sealed_headers, called.sealed_secret, called.previous_sealed_secret, called.path,
  (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`;

/** SQL: joins a tool of a server. Lateral: PostgreSQL might otherwise scan all servers. */
export const calledToolJoin = (
  workspaceId: Sql,
  serverId: Sql,
  tool: Sql,
) => sql`left join lateral (
      select s.id as server_id, s.workspace_id, s.url, s.enabled, s.max_concurrency, s.sealed_headers, s.sealed_secret,
        case when s.previous_until > clock_timestamp() then s.previous_sealed_secret end as previous_sealed_secret,
        (select coalesce(definition ->> 'path', '') from tool_catalog
          where tool_catalog.server_id = s.id and tool_catalog.name = ${tool} and state <> 'gone') as path
      from tool_servers s where s.id = ${serverId} and s.workspace_id = ${workspaceId} offset 0) as called on true`;

/** All null if the server does not exist. */
export type CalledToolRow = Omit<CalledTool, 'serverId' | 'readAt'> & {
  readonly serverId: string | null;
};

export function calledToolOf({ serverId, ...row }: CalledToolRow): CalledTool | null {
  return serverId === null ? null : { ...row, serverId, readAt: performance.now() };
}

/** For a call that nothing dispatches. */
export async function readCalledTool(
  db: Db,
  { workspaceId, server, tool }: Record<'workspaceId' | 'server' | 'tool', string>,
): Promise<CalledTool | null> {
  const { rows } = await sql<CalledToolRow>`
    select ${calledToolColumns} from (values (1)) as always
    ${calledToolJoin(sql`${workspaceId}::uuid`, sql`${server}::uuid`, sql`${tool}`)}`.execute(db);
  return rows[0] ? calledToolOf(rows[0]) : null;
}
