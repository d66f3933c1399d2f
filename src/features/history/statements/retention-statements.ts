import type { Retention } from '../../../core/history/retention.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { type Sql, sql } from '../../../db/sql.ts';
import { lockFloor } from '../../../engine/complete/retention-floor.ts';

/** How long records and their bodies are kept, and which are overdue. */

export async function readRetention(db: Db, workspaceId: string): Promise<Retention> {
  const { rows } = await sql<Retention>`
    select records_days, bodies_days from workspaces where id = ${workspaceId}`.execute(db);
  if (!rows[0]) throw new Error('The workspace does not exist.');
  return rows[0];
}

/** Locks the workspace's row and the floor. Returns the previous values. */
export async function writeRetention(
  trx: Trx,
  workspaceId: string,
  { recordsDays, bodiesDays }: Retention,
): Promise<Retention> {
  const { rows } = await sql<Retention>`
    select records_days, bodies_days from workspaces where id = ${workspaceId} for no key update`.execute(
    trx,
  );
  await lockFloor(trx);
  await sql`
    update workspaces set records_days = ${recordsDays}, bodies_days = ${bodiesDays}
    where id = ${workspaceId}`.execute(trx);
  if (!rows[0]) throw new Error('The workspace does not exist.');
  return rows[0];
}

/** An agent, deleted or not, and what is overdue. */
export interface Overdue {
  readonly agentId: string;
  /** Its oldest overdue record; null if there is none. */
  readonly oldest: string | null;
  /** Whether its bodies are removed before their records. */
  readonly losesBodies: boolean;
}

/** The next agents by id. */
export async function listOverdueAgents(db: Db, after: string, limit: number): Promise<Overdue[]> {
  const { rows } = await sql<Overdue>`
    select a.id as agent_id, a.loses_bodies, (
        select e.id from executions e
        where e.agent_id = a.id
          and e.id >= (select id_floor(at) from history_floor) and e.id < a.before
        order by e.id limit 1) as oldest
    from (
      select a.id, coalesce(a.bodies_days, w.bodies_days) is not null as loses_bodies,
        ${overdueBefore('records_days')} as before
      from agents a join workspaces w on w.id = a.workspace_id
      where a.id > ${after} order by a.id limit ${limit}) as a
    order by a.id`.execute(db);
  return rows;
}

/**
 * SQL: the id below which the records of agent `a` of workspace `w`, or their bodies, are overdue; null if they are kept
 * forever. The deleting statement itself must contain it, because retention may have changed since. A day has 24 hours,
 * whatever the time zone of the session. An id cannot express times before 1970.
 */
export function overdueBefore(column: 'records_days' | 'bodies_days'): Sql {
  const days = sql.raw(`coalesce(a.${column}, w.${column})`);
  return sql`case when ${days} is not null then
    id_floor(greatest(clock_timestamp() - ${days} * interval '24 hours', 'epoch')) end`;
}
