import { sql } from 'kysely';
import { briefOutputMs } from '../core/retention.ts';
import type { Db } from './db.ts';
import type { OpenErasure } from './erasures.ts';
import type { Send, Statement } from './pipeline.ts';
import { overdueBefore } from './retention.ts';

/** How runs of workflows go: when their time is up, and with the end user whom they are about. Their steps go with them. */

/** Deletes up to `limit` ended runs of which an agent keeps its records no longer; answers how many. */
export async function removeOverdueRuns(db: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from workflow_runs
    where id in (${overdue('records_days', ['kept', 'brief', 'gone'], limit)})`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Takes input and output of up to `limit` ended runs of which an agent keeps its bodies no longer; answers how many. */
export async function takeOverdueRunBodies(db: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    update workflow_runs set bodies = 'gone', input = null, output = null
    where id in (${overdue('bodies_days', ['kept'], limit)})`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Takes what is left of up to `limit` runs of which an agent stores no bodies, and answers how many there were. */
export async function takeBriefRunBodies(db: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    update workflow_runs set bodies = 'gone', input = null, output = null where id in (
      select id from workflow_runs
      where bodies = 'brief' and completed_at <= clock_timestamp() - ${briefOutputMs} * interval '1 millisecond'
      order by completed_at limit ${limit} for update skip locked)`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/**
 * SQL: the ids of ended runs that have had their time, or whose bodies have; locked, but for those that somebody else has.
 * Of all agents that a version names, deleted or not, the one whose time is the shortest decides: its data is in the run.
 */
function overdue(
  column: 'records_days' | 'bodies_days',
  bodies: readonly ('kept' | 'brief' | 'gone')[],
  limit: number,
) {
  const before = sql.raw(overdueBefore(column));
  return sql`
    select r.id from (
      select v.id, (
        select max((${before})::text collate "C")::uuid
        from agents a join workspaces w on w.id = a.workspace_id where a.id = any (v.agent_ids)) as before
      from workflow_versions v) as v
    cross join lateral (
      select id from workflow_runs
      where workflow_version_id = v.id and bodies = any (${bodies}::text[]) and status <> 'processing'
        and id < v.before
      limit ${limit} for update skip locked) as r
    limit ${limit}`;
}

/** A run whose input names an end user. */
export interface RunOfInput {
  readonly id: string;
  /** Of an object or array its JSON text, which may still differ from the value; null where it is the value. */
  readonly text: string | null;
}

/** Those among the next `limit` runs of the workspace, ended or not, whose input has this value, or may have it. */
export async function findRunsByInput(
  db: Db,
  { workspaceId, variable, value }: Pick<OpenErasure, 'workspaceId' | 'variable' | 'value'>,
  { before, limit }: { before: string; limit: number },
): Promise<{ readonly found: RunOfInput[]; readonly downTo: string | null }> {
  const { rows } = await sql<{ id: string; found: boolean; text: string | null }>`
    select id, coalesce(named.nested or named.text = ${value}, false) as found,
      case when named.nested then named.text end as text
    from (
      select id, input from workflow_runs
      where workspace_id = ${workspaceId} and id < ${before}
      order by id desc limit ${limit}) as looked
    cross join lateral (
      select input ->> ${variable} as text, json_typeof(input -> ${variable}) in ('object', 'array') as nested) as named
    order by id desc`.execute(db);
  return {
    found: rows.filter((row) => row.found).map(({ id, text }) => ({ id, text })),
    downTo: rows.at(-1)?.id ?? null,
  };
}

/** Deletes the ended ones among these runs, and answers how many. */
export async function removeRuns(db: Db, ids: readonly string[]): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from workflow_runs where id = any(array(
      select id from workflow_runs where id = any(${ids}::uuid[]) and status <> 'processing'
      order by id for update skip locked))`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Deletes runs along with the records of their steps, in the transaction that deletes those. */
export function removeRunsOfRecords(send: Send, runIds: readonly string[]): Promise<unknown> {
  return send(deleteRuns, [runIds]);
}

const deleteRuns: Statement = {
  name: 'workflow-delete-runs',
  text: `delete from workflow_runs where id = any(array(
    select id from workflow_runs where id = any($1::uuid[]) and status <> 'processing'
    order by id for update skip locked))`,
};
