import { rolledUpMax } from '../../../core/history/retention.ts';
import type { Db } from '../../../db/database.ts';
import { type Sql, sql } from '../../../db/sql.ts';

/**
 * Rolls up the statistics: deletes the minutes older than two days of hours with few records, because reading those records
 * is as fast. The statistics of a rarely called agent shrink to a sixtieth.
 *
 * This needs no lock. A reader descends into a bucket only if the sum of its children equals its own count. After a roll-up
 * the sums differ until every rolled-up record is deleted, whatever is added or deleted meanwhile.
 */

/**
 * Deletes the minutes of up to `limit` hours of an agent. Returns the last hour; null if there are no more.
 * @param from null at the beginning of a round: it starts one day before the stored position, because a minute may have been
 *   locked, or a long execution may have ended since
 */
export async function rollUpHours(
  db: Db,
  { agentId, from, limit }: { agentId: string; from: Date | null; limit: number },
): Promise<Date | null> {
  const begin = sql`coalesce(${from}::timestamptz, (
    select up_to - interval '1 day' from minute_rollups where agent_id = ${agentId}), '-infinity')`;
  const { rows } = await sql<{ last: Date | null }>`
    with recursive hours as (
      select ${hourOfNextMinute(agentId, begin)} as hour, 1 as step
      union all
      select ${hourOfNextMinute(agentId, sql`hour + interval '1 hour'`)}, step + 1
      from hours where hour is not null and step < ${limit}),
    old as materialized (
      select hour from hours where hour < clock_timestamp() - interval '2 days 1 hour'),
    few as materialized (
      select hour from old where ${rolledUpMax} >= (
        select coalesce(sum(recorded), 0) from statistics
        where agent_id = ${agentId} and level = 'hour' and bucket = hour)),
    locked as materialized (
      select bucket, status, source from statistics
      where agent_id = ${agentId} and level = 'minute' and date_trunc('hour', bucket, 'UTC') in (select hour from few)
        and bucket >= (select min(hour) from few) and bucket < (select max(hour) from few) + interval '1 hour'
      order by bucket, status::text collate "C", source::text collate "C" for update skip locked),
    deleted as (
      delete from statistics s using locked h
      where s.agent_id = ${agentId} and s.level = 'minute'
        and (s.bucket, s.status, s.source) = (h.bucket, h.status, h.source)),
    recorded as (
      insert into minute_rollups as m (agent_id, up_to)
      select ${agentId}, max(hour) from old having count(*) > 0
      on conflict (agent_id) do update set up_to = greatest(m.up_to, excluded.up_to))
    select case when count(*) = ${limit} then max(hour) end as last from old`.execute(db);
  return rows[0]?.last ?? null;
}

/** The hour of an agent's first minute from a time on, by one index lookup. */
function hourOfNextMinute(agentId: string, from: Sql) {
  return sql`(
    select date_trunc('hour', bucket, 'UTC') from statistics
    where agent_id = ${agentId} and level = 'minute' and bucket >= ${from}
    order by bucket limit 1)`;
}

/** The next agents by id, including deleted ones. */
export async function listAgentIds(db: Db, after: string, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from agents where id > ${after} order by id limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}
