import { sql } from 'kysely';
import type { Retention } from '../../core/history/retention.ts';
import type { Db, Trx } from '../connection/database.ts';

/** How long records and their bodies are kept, and whose time is up. */

export async function readRetention(db: Db, workspaceId: string): Promise<Retention> {
  const { rows } = await sql<Retention>`
    select records_days, bodies_days from workspaces where id = ${workspaceId}`.execute(db);
  if (!rows[0]) throw new Error('the workspace is gone');
  return rows[0];
}

/** Locks the workspace's row, holds the floor, and answers what held until now. */
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
  if (!rows[0]) throw new Error('the workspace is gone');
  return rows[0];
}

/**
 * Keeps the floor where it is until the end of this transaction, or waits for a move that is under way. Whoever changes
 * how long something is kept does so within this: once that is answered, nothing goes that is to be kept by it.
 */
export async function lockFloor(trx: Trx): Promise<void> {
  await sql`select from maintenance_jobs where name = 'retention' for share`.execute(trx);
}

/** An agent, deleted or not, and what of it is overdue. */
export interface Overdue {
  readonly agentId: string;
  /** Its oldest ended record whose time is up; null where there is none. */
  readonly oldest: string | null;
  /** Whether its bodies go before their record. */
  readonly losesBodies: boolean;
}

/** The next agents in the order of their ids: who asks on from the last one comes round all of them. */
export async function listOverdueAgents(db: Db, after: string, limit: number): Promise<Overdue[]> {
  const { rows } = await sql<Overdue>`
    select a.id as agent_id, a.loses_bodies, (
        select e.id from executions e
        where e.agent_id = a.id and e.status <> 'processing'
          and e.id >= (select id_floor(at) from history_floor) and e.id < a.before
        order by e.id limit 1) as oldest
    from (
      select a.id, coalesce(a.bodies_days, w.bodies_days) is not null as loses_bodies,
        ${sql.raw(overdueBefore('records_days'))} as before
      from agents a join workspaces w on w.id = a.workspace_id
      where a.id > ${after} order by a.id limit ${limit}) as a
    order by a.id`.execute(db);
  return rows;
}

/**
 * SQL: the id before which records of agent `a` of workspace `w`, or their bodies, have had their time; null where they are
 * kept. To be asked by the statement that takes them away: it may have been changed since the one before. A day has 24
 * hours here, whatever it has in the session's time zone; an id has no place for times before 1970.
 */
export function overdueBefore(column: 'records_days' | 'bodies_days'): string {
  const days = `coalesce(a.${column}, w.${column})`;
  return `case when ${days} is not null then
    id_floor(greatest(clock_timestamp() - ${days} * interval '24 hours', 'epoch')) end`;
}
