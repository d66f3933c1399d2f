import { sql } from 'kysely';
import type { Db } from './db.ts';
import type { OpenErasure } from './erasures.ts';
import type { Send, Statement } from './pipeline.ts';

/** How runs of workflows go: when their time is up, and with the end user whom they are about. Their steps go with them. */

/** Deletes up to `limit` ended runs that are older than their workspace keeps executions; answers how many. */
export async function removeOverdueRuns(db: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from workflow_runs where id in (
      select r.id from workspaces w cross join lateral (
        select id from workflow_runs
        where workspace_id = w.id and status <> 'processing' and id < id_floor(
          greatest(clock_timestamp() - w.records_days * interval '24 hours', 'epoch'))
        order by id limit ${limit} for update skip locked) r
      where w.records_days is not null
      limit ${limit})`.execute(db);
  return Number(numAffectedRows ?? 0);
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
