import { type BatchCounts, uploadHours } from '../../../core/batch/batch.ts';
import { batchEvent } from '../../../core/batch/batch-event.ts';
import { toId } from '../../../core/id.ts';
import { type Db, inTransaction, type Trx } from '../../../db/database.ts';
import { type Columns, rowTable } from '../../../db/row-set.ts';
import { sql } from '../../../db/sql.ts';
import { writeEvents } from '../../../engine/complete/events.ts';
import { refuseDuringErasure } from '../../../engine/read/open-erasures.ts';
import { writeAudit } from '../../people/statements/audit-statements.ts';

/**
 * Uploads of batches: lines are stored as they arrive, in small transactions, and start only once all are stored.
 *
 * States: uploading, then a batch; or deleted, when it is refused, empty or unfinished for a day.
 *
 * Invariants
 * - One upload at a time writes to a batch: the one that its row names. A retry with the same idempotency key takes over, and
 *   the upload before it can write nothing more.
 * - Counts and lines are written by one statement.
 *
 * Failure case: the process or the client dies. The stored lines stay. A retry with the same idempotency key skips their ids.
 */

export interface NewUpload {
  readonly id: string;
  /** Names this upload. */
  readonly upload: string;
  readonly workspaceId: string;
  readonly agentId: string;
  readonly promptVersionId: string;
  readonly caller: string;
  readonly apiKeyId: string | null;
  readonly executedBy: string | null;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
  readonly idempotencyKey: string | null;
  readonly fileName: string | null;
  /** The batch whose failed lines it runs again. */
  readonly rerunOf: string | null;
}

/** What was uploaded with the same idempotency key. */
export interface EarlierUpload {
  readonly id: string;
  /** Null while it is incomplete. */
  readonly digest: Buffer | null;
  readonly rerunOf: string | null;
}

/** A first use counts for a day and until the batch has ended. */
export async function findEarlierUpload(
  db: Db,
  { caller, agentId, idempotencyKey }: Pick<NewUpload, 'caller' | 'agentId' | 'idempotencyKey'>,
): Promise<EarlierUpload | null> {
  const { rows } = await sql<EarlierUpload>`
    select id, digest, rerun_of from batches b
    where caller = ${caller} and agent_id = ${agentId} and idempotency_key = ${idempotencyKey}
      and not ${expiredKey}`.execute(db);
  return rows[0] ?? null;
}

const expiredKey = sql`(b.completed_at is not null and b.created_at < clock_timestamp() - interval '24 hours')`;

/** Begins an upload. Returns false if another one has used the idempotency key meanwhile. */
export async function beginUpload(db: Db, upload: NewUpload): Promise<boolean> {
  const { id, workspaceId, agentId, promptVersionId, caller, apiKeyId, executedBy } = upload;
  const { ipAddress, userAgent, idempotencyKey, fileName, rerunOf } = upload;
  return inTransaction(db, async (trx) => {
    await sql`
      update batches b set idempotency_key = null
      where caller = ${caller} and agent_id = ${agentId} and idempotency_key = ${idempotencyKey}
        and ${expiredKey}`.execute(trx);
    const { rowCount } = await sql`
      insert into batches (id, workspace_id, agent_id, prompt_version_id, caller, api_key_id, executed_by, ip_address,
        user_agent, idempotency_key, upload, file_name, rerun_of)
      values (${id}, ${workspaceId}, ${agentId}, ${promptVersionId}, ${caller}, ${apiKeyId}, ${executedBy}, ${ipAddress},
        ${userAgent}, ${idempotencyKey}, ${upload.upload}, ${fileName}, ${rerunOf})
      on conflict do nothing`.execute(trx);
    return rowCount === 1;
  });
}

export interface StoredLine {
  readonly line: number;
  readonly id: string | null;
}

/**
 * Takes over an unfinished upload. Deletes its refused lines, which are sent again. Returns its lines, or null if it is
 * finished or deleted.
 */
export async function resumeUpload(
  db: Db,
  { id, upload }: { readonly id: string; readonly upload: string },
): Promise<{ readonly bytes: number; readonly lines: StoredLine[] } | null> {
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<{ bytes: number }>`
      update batches set upload = ${upload}, total = total - refused, refused = 0
      where id = ${id} and status = 'uploading' returning bytes`.execute(trx);
    if (!rows[0]) return null;
    await sql`delete from batch_lines where batch_id = ${id} and status = 'refused'`.execute(trx);
    const { rows: lines } = await sql<StoredLine>`
      select line, id from batch_lines where batch_id = ${id} order by line`.execute(trx);
    return { bytes: rows[0].bytes, lines };
  });
}

/** A line that waits, or that was refused. */
export interface NewLine {
  readonly line: number;
  readonly id: string | null;
  /** Of the id, the variables and the labels. */
  readonly bytes: number;
  /** Compact JSON; null if the line is refused. */
  readonly variables: string | null;
  /** Compact JSON; null without. */
  readonly labels: string | null;
  readonly user: string | null;
  readonly errorCode: string | null;
  readonly error: string | null;
}

const columns: Columns<NewLine> = {
  line: ['int', (one) => one.line],
  id: ['text', (one) => one.id],
  variables: ['json', (one) => one.variables],
  labels: ['json', (one) => one.labels],
  end_user: ['text', (one) => one.user],
  error_code: ['text', (one) => one.errorCode],
  error: ['text', (one) => one.error],
};

/** The upload that stores lines. */
export interface UploadInProgress {
  readonly id: string;
  readonly upload: string;
  readonly workspaceId: string;
}

/** What the batches of a workspace keep in the database for later. */
export interface StoredForLater {
  /** Lines that wait, those of unfinished uploads included, and their bytes. */
  readonly lines: number;
  readonly bytes: number;
  /** Lines of the last 24 hours that were refused or canceled. */
  readonly unrun: number;
}

/**
 * Stores lines. Returns false if the upload is not in progress any more. `check` receives what the workspace then has; if it throws,
 * nothing is stored.
 *
 * Uploads of a workspace store their lines one after another, in all processes: each sees what the others have stored, so
 * together they never exceed a limit. What ends meanwhile only makes room.
 */
export async function appendLines(
  db: Db,
  upload: UploadInProgress,
  lines: readonly NewLine[],
  check: (stored: StoredForLater) => void,
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const { workspaceId } = upload;
    await sql`
      select pg_advisory_xact_lock(hashtextextended(${`batch lines ${workspaceId}`}, 0))`.execute(
      trx,
    );
    const isStored = await insertLines(trx, upload, lines);
    if (isStored) check(await countStored(trx, workspaceId));
    return isStored;
  });
}

/** Reads unfinished batches and those of the last day by their indexes, not all of the workspace. */
async function countStored(trx: Trx, workspaceId: string): Promise<StoredForLater> {
  const isRecent = sql`completed_at > clock_timestamp() - interval '24 hours'`;
  const { rows } = await sql<StoredForLater>`
    select coalesce(sum(waiting), 0)::int8 as lines,
      coalesce(sum(bytes) filter (where waiting > 0), 0)::int8 as bytes,
      coalesce(sum(refused + canceled), 0)::int8 as unrun
    from batches where workspace_id = ${workspaceId}
      and (status in ('uploading', 'processing') or (status = 'canceled' and processing > 0) or ${isRecent})`.execute(
    trx,
  );
  const [row] = rows;
  if (!row) throw new Error('A sum has one row.');
  return row;
}

async function insertLines(
  trx: Trx,
  { id, upload }: UploadInProgress,
  lines: readonly NewLine[],
): Promise<boolean> {
  const waiting = lines.filter(({ variables }) => variables !== null);
  const bytes = waiting.reduce((sum, line) => sum + line.bytes, 0);
  const { rows } = await sql<{ stored: number }>`
    with own as (
      update batches set total = total + ${lines.length}, waiting = waiting + ${waiting.length},
        refused = refused + ${lines.length - waiting.length}, bytes = bytes + ${bytes}
      where id = ${id} and upload = ${upload} and status = 'uploading' returning id),
    stored as (
      insert into batch_lines (batch_id, line, id, status, variables, labels, end_user, error_code, error)
      select own.id, n.line, n.id, case when n.error_code is null then 'waiting' else 'refused' end,
        n.variables, n.labels, n.end_user, n.error_code, n.error
      from own, ${rowTable('n', columns, lines)}
      returning 1)
    select count(*)::int as stored from stored`.execute(trx);
  return rows[0]?.stored === lines.length;
}

/**
 * Makes the upload a batch. One without a valid line is completed at once. Returns false if the upload is not in progress any
 * more.
 */
export async function finishUpload(
  db: Db,
  { id, upload, digest }: { readonly id: string; readonly upload: string; readonly digest: Buffer },
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<
      BatchCounts &
        Pick<NewUpload, 'workspaceId' | 'agentId' | 'apiKeyId' | 'executedBy'> & {
          status: string;
          rerunOf: string | null;
          createdAt: Date;
          nowMs: number;
        }
    >`
      update batches set digest = ${digest}, upload = null, next_at = clock_timestamp(),
        status = case when waiting = 0 then 'completed' else 'processing' end,
        completed_at = case when waiting = 0 then clock_timestamp() end
      where id = ${id} and upload = ${upload} and status = 'uploading'
      returning workspace_id, agent_id, api_key_id, executed_by, status, rerun_of, created_at, total, waiting, processing, success, failed, canceled, refused,
        (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`.execute(trx);
    const [row] = rows;
    if (!row) return false;
    const {
      workspaceId,
      agentId,
      apiKeyId,
      executedBy: userId,
      status,
      rerunOf,
      createdAt,
      nowMs: atMs,
      ...counts
    } = row;
    // An erasure that is requested later waits for the lock of this row, and then finds the lines.
    if (rerunOf !== null) await refuseDuringErasure(trx, workspaceId, createdAt);
    await writeAudit(
      trx,
      { workspaceId, userId, apiKeyId },
      {
        ...{ action: 'batch.upload', subject: toId('batch', id) },
        details: { agentId: toId('agent', agentId), lines: counts.total },
      },
    );
    await sql`select pg_notify('cueline_batch_uploaded', '')`.execute(trx);
    if (status === 'completed') {
      await writeEvents(trx, [batchEvent({ id, workspaceId, agentId, status, counts, atMs })]);
    }
    return true;
  });
}

/** Deletes an upload that is still in progress. */
export async function deleteUpload(
  db: Db,
  { id, upload }: { readonly id: string; readonly upload: string },
): Promise<void> {
  await sql`
    delete from batches where id = ${id} and upload = ${upload} and status = 'uploading'`.execute(
    db,
  );
}

/** Deletes up to `limit` unfinished uploads after a day. Returns how many. */
export async function deleteUnfinishedUploads(db: Db, limit: number): Promise<number> {
  const { rowCount } = await sql`
    delete from batches where id in (
      select id from batches
      where status = 'uploading' and created_at < clock_timestamp() - make_interval(hours => ${uploadHours})
      order by created_at limit ${limit} for update skip locked)`.execute(db);
  return rowCount;
}
