import { sql } from 'kysely';
import { rolledUpMax } from '../../core/history/retention.ts';
import type { Db } from '../connection/database.ts';

/**
 * Folding: minutes older than two days are deleted where their hour holds so few records that it is as quick to read
 * those. The statistics of an agent that is called now and then shrink to a sixtieth.
 *
 * Nobody needs to be kept out meanwhile. A bucket is only gone into where its children's sum is its own, and that sum
 * says all by itself: what was folded is missing from it until each record that was folded is deleted, however many are
 * added or deleted in between, and in whatever order.
 */

/**
 * Deletes the minutes of up to `limit` hours of an agent, and answers the last one; null when there are no more such hours.
 * @param from null where a round begins: a day before the hour that the ones before have come to, since somebody may have
 *   held a minute meanwhile, or a run that was long under way ended. What comes later still keeps its minute.
 */
export async function rollUpHours(
  db: Db,
  { agentId, from, limit }: { agentId: string; from: Date | null; limit: number },
): Promise<Date | null> {
  const begin = sql`coalesce(${from}::timestamptz, (
    select up_to - interval '1 day' from minute_rollups where agent_id = ${agentId}), '-infinity')`;
  const { rows } = await sql<{ last: Date | null }>`
    with recursive hours as (
      select ${hourOfNextMinute(agentId, begin)} as hour, 1 as place
      union all
      select ${hourOfNextMinute(agentId, sql`hour + interval '1 hour'`)}, place + 1
      from hours where hour is not null and place < ${limit}),
    old as materialized (
      select hour from hours where hour < clock_timestamp() - interval '2 days 1 hour'),
    few as materialized (
      select hour from old where ${rolledUpMax} >= (
        select coalesce(sum(recorded), 0) from statistics
        where agent_id = ${agentId} and level = 'hour' and bucket = hour)),
    held as materialized (
      select bucket, status, source from statistics
      where agent_id = ${agentId} and level = 'minute' and date_trunc('hour', bucket, 'UTC') in (select hour from few)
        and bucket >= (select min(hour) from few) and bucket < (select max(hour) from few) + interval '1 hour'
      order by bucket, status::text collate "C", source::text collate "C" for update skip locked),
    folded as (
      delete from statistics s using held h
      where s.agent_id = ${agentId} and s.level = 'minute'
        and (s.bucket, s.status, s.source) = (h.bucket, h.status, h.source)),
    noted as (
      insert into minute_rollups as m (agent_id, up_to)
      select ${agentId}, max(hour) from old having count(*) > 0
      on conflict (agent_id) do update set up_to = greatest(m.up_to, excluded.up_to))
    select case when count(*) = ${limit} then max(hour) end as last from old`.execute(db);
  return rows[0]?.last ?? null;
}

/** The hour of an agent's first minute from a time on: a step through the index. */
function hourOfNextMinute(agentId: string, from: ReturnType<typeof sql>) {
  return sql`(
    select date_trunc('hour', bucket, 'UTC') from statistics
    where agent_id = ${agentId} and level = 'minute' and bucket >= ${from}
    order by bucket limit 1)`;
}

/** The next agents in the order of their ids, deleted ones too. */
export async function listAgentIds(db: Db, after: string, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from agents where id > ${after} order by id limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}
