import { statementTime } from '../../../db/clock.ts';
import type { Db } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';

/** Batches that a worker has to advance. */

export interface DueBatch {
  readonly id: string;
  readonly workspaceId: string;
  readonly agentId: string;
  /** In hexadecimal. Null if a session uploaded it, or if its key is gone. */
  readonly keyHash: string | null;
  readonly apiKeyId: string | null;
  readonly executedBy: string | null;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
  /** The version, if its agent has a limit of cost, or its workspace budgets. */
  readonly limitedVersionId: string | null;
}

export interface WaitingBatch extends DueBatch {
  /** Whether its lines may start now. */
  readonly isDue: boolean;
}

/** Batches with lines that wait, those first that were admitted longest ago, but not those of `exceptWorkspaces`. */
export async function listWaitingBatches(
  db: Db,
  {
    limit,
    except,
    exceptWorkspaces,
  }: {
    readonly limit: number;
    readonly except: readonly string[];
    readonly exceptWorkspaces: readonly string[];
  },
): Promise<WaitingBatch[]> {
  const { rows } = await sql<WaitingBatch>`
    select b.id, b.workspace_id, b.agent_id, encode(k.hash, 'hex') as key_hash, b.api_key_id, b.executed_by,
      b.ip_address, b.user_agent,
      (select b.prompt_version_id from agents a where a.id = b.agent_id and (a.config ? 'maxCostUSD'
        or exists (select from budgets u where u.workspace_id = b.workspace_id and u.enabled))) as limited_version_id,
      b.next_at <= ${statementTime} as is_due
    from batches b left join api_keys k on k.id = b.api_key_id
    where b.status = 'processing' and b.waiting > 0 and b.id <> all(${except}::uuid[])
      and b.workspace_id <> all(${exceptWorkspaces}::uuid[])
    order by b.next_at limit ${limit}`.execute(db);
  return rows;
}

/** For metrics. */
export async function countWaitingLines(db: Db): Promise<number> {
  const { rows } = await sql<{ lines: number }>`
    select coalesce(sum(waiting), 0)::int as lines from batches where status = 'processing' and waiting > 0`.execute(
    db,
  );
  return rows[0]?.lines ?? 0;
}

/** Up to `limit` running executions of batches that a caller has canceled. */
export async function listCanceledExecutions(db: Db, limit: number): Promise<string[]> {
  const { rows } = await sql<{ executionId: string }>`
    select l.execution_id from batches b
    join batch_lines l on l.batch_id = b.id and l.status = 'processing'
    where b.status = 'canceled' and b.processing > 0 and b.canceled_because = 'requested'
    order by b.id, l.line limit ${limit}`.execute(db);
  return rows.map(({ executionId }) => executionId);
}

/** Makes batches due whose turn was put off while the database clock was far ahead. */
export async function wakeBatches(db: Db, limit: number): Promise<number> {
  const { rowCount } = await sql`
    update batches set next_at = clock_timestamp() where id in (
      select id from batches
      where status = 'processing' and waiting > 0 and next_at > ${statementTime} + interval '1 minute'
      limit ${limit} for update skip locked)`.execute(db);
  return rowCount;
}

/** Deletes up to `limit` batches that ended before the records of their agent are kept. Returns how many. */
export async function deleteOldBatches(db: Db, limit: number): Promise<number> {
  const { rowCount } = await sql`
    delete from batches where id in (
      select b.id from batches b join agents a on a.id = b.agent_id join workspaces w on w.id = b.workspace_id
      where b.completed_at < clock_timestamp() - coalesce(a.records_days, w.records_days) * interval '24 hours'
      order by b.completed_at limit ${limit} for update of b skip locked)`.execute(db);
  return rowCount;
}
