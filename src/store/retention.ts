import { sql } from 'kysely';
import type { Retention } from '../core/retention.ts';
import type { Db, Trx } from './db.ts';

/** How long records and their bodies are kept, and whose time is up. */

export async function readRetention(db: Db, workspaceId: string): Promise<Retention> {
  const { rows } = await sql<Retention>`
    select records_days, bodies_days from workspaces where id = ${workspaceId}`.execute(db);
  if (!rows[0]) throw new Error('the workspace is gone');
  return rows[0];
}

/** Locks the workspace's row and answers what held until now. */
export async function writeRetention(
  trx: Trx,
  workspaceId: string,
  { recordsDays, bodiesDays }: Retention,
): Promise<Retention> {
  const { rows } = await sql<Retention>`
    select records_days, bodies_days from workspaces where id = ${workspaceId} for no key update`.execute(
    trx,
  );
  await sql`
    update workspaces set records_days = ${recordsDays}, bodies_days = ${bodiesDays}
    where id = ${workspaceId}`.execute(trx);
  if (!rows[0]) throw new Error('the workspace is gone');
  return rows[0];
}

/** An agent, deleted or not, and what of it is overdue. */
export interface Overdue {
  readonly agentId: string;
  /** Its oldest ended record whose time is up; null where there is none. */
  readonly oldest: string | null;
  /** Records before this id have had their time. */
  readonly before: string | null;
  /** Days that bodies are kept, where they go before their record. */
  readonly bodiesDays: number | null;
}

/** The next agents in the order of their ids: who asks on from the last one comes round all of them. */
export async function nextOverdue(db: Db, after: string, limit: number): Promise<Overdue[]> {
  const { rows } = await sql<Overdue>`
    select a.id as agent_id, a.bodies_days, a.before, (
        select e.id from executions e
        where e.agent_id = a.id and e.status <> 'processing'
          and e.id >= (select id_floor(at) from history_floor) and e.id < a.before
        order by e.id limit 1) as oldest
    from (
      select a.id, coalesce(a.bodies_days, w.bodies_days) as bodies_days,
        id_floor(${timeBefore(sql`coalesce(a.records_days, w.records_days)`)}) as before
      from agents a join workspaces w on w.id = a.workspace_id
      where a.id > ${after} order by a.id limit ${limit}) as a
    order by a.id`.execute(db);
  return rows;
}

/** The time so many days ago; an id has no place for times before 1970. */
export function timeBefore(days: ReturnType<typeof sql>) {
  return sql`greatest(clock_timestamp() - ${days} * interval '1 day', case when ${days} is not null then 'epoch'::timestamptz end)`;
}
