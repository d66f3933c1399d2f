import type {
  BatchCancelReason,
  BatchCounts,
  BatchStatus,
  LineStatus,
  WaitReason,
} from '../../../core/batch/batch.ts';
import { batchEvent } from '../../../core/batch/batch-event.ts';
import type { CallFailureCode, ExecutionErrorCode } from '../../../core/failure.ts';
import type { ErasedValue } from '../../../core/history/erased-value.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { type Page, readPage } from '../../../db/page.ts';
import { sql } from '../../../db/sql.ts';
import { lineBytes } from '../../../engine/advance/batch-lines.ts';
import { labelsHaveLabel } from '../../../engine/complete/erased-labels.ts';
import { writeEvents } from '../../../engine/complete/events.ts';

/** Reads batches and the results of their lines. Uploads in progress are not visible. */

export interface BatchRow extends BatchCounts {
  readonly id: string;
  readonly agentId: string;
  readonly status: BatchStatus;
  readonly waitingFor: WaitReason | null;
  readonly canceledBecause: BatchCancelReason | null;
  readonly promptVersionId: string;
  readonly promptVersionLabel: string;
  readonly fileName: string | null;
  readonly rerunOf: string | null;
  readonly apiKeyId: string | null;
  readonly executedBy: string | null;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
}

const columns = sql`b.id, b.agent_id, b.status, b.waiting_for, b.canceled_because, b.prompt_version_id,
  (select v.label from prompt_versions v where v.id = b.prompt_version_id) as prompt_version_label,
  b.file_name, b.rerun_of, b.api_key_id, b.executed_by, b.created_at, b.completed_at, b.total, b.waiting, b.processing, b.success, b.failed,
  b.canceled, b.refused`;

/** Whose batches a caller sees: all, or those that a key uploaded. */
interface BatchFilter {
  readonly agentId: string;
  readonly apiKeyId: string | null;
}

const matching = ({ agentId, apiKeyId }: BatchFilter) => sql`b.agent_id = ${agentId}
  and b.status <> 'uploading' and (${apiKeyId}::uuid is null or b.api_key_id = ${apiKeyId})`;

export async function findBatch(db: Db, filter: BatchFilter, id: string): Promise<BatchRow | null> {
  const { rows } = await sql<BatchRow>`
    select ${columns} from batches b where b.id = ${id} and ${matching(filter)}`.execute(db);
  return rows[0] ?? null;
}

/** Newest first. */
export function listBatches(
  db: Db,
  filter: BatchFilter,
  page: Page,
): Promise<{ rows: BatchRow[]; total: number }> {
  const from = sql`batches b where ${matching(filter)}`;
  return readPage<BatchRow>(db, { columns, from, order: sql`b.id desc` }, page);
}

/** The running lines of a batch after one of them. */
export async function listRunningLines(
  db: Db,
  batchId: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<{ line: number; executionId: string }[]> {
  const { rows } = await sql<{ line: number; executionId: string }>`
    select line, execution_id from batch_lines
    where batch_id = ${batchId} and status = 'processing' and line > ${after}
    order by line limit ${limit}`.execute(db);
  return rows;
}

export interface ResultRow {
  readonly line: number;
  readonly id: string | null;
  readonly status: LineStatus;
  readonly executionId: string | null;
  /** Also null if the record is deleted. */
  readonly outputText: string | null;
  readonly error: string | null;
  readonly errorCode: CallFailureCode | ExecutionErrorCode | 'DUPLICATE_ID' | null;
}

const resultRowsMax = 200;
/** Outputs of one page. The first one always fits. */
const resultBytesMax = 4_194_304;

/**
 * The next results after a line, in the order of the file; empty at the end.
 * @param statuses null for lines of any status
 */
export async function readResults(
  db: Db,
  batchId: string,
  { after, statuses }: { readonly after: number; readonly statuses: readonly LineStatus[] | null },
): Promise<ResultRow[]> {
  const { rows } = await sql<ResultRow>`
    select line, id, status, execution_id, output_text, error, error_code from (
      select l.line, l.id, l.status, l.execution_id, record.output as output_text, l.error_code,
        coalesce(record.error, l.error) as error,
        coalesce(sum(octet_length(record.output)) over (order by l.line), 0)
          - coalesce(octet_length(record.output), 0) as before
      from (
        select * from batch_lines
        where batch_id = ${batchId} and line > ${after}
          and (${statuses}::text[] is null or status = any (${statuses}::text[]))
        order by line limit ${resultRowsMax}) as l
      left join lateral (
        select coalesce(e.output, t.output) as output, e.error
        from executions e left join transient_outputs t on t.execution_id = e.id
        where e.id = l.execution_id and e.id >= (select id_floor(at) from history_floor)
        offset 0) as record on true) as sized
    where before < ${resultBytesMax} order by line`.execute(db);
  return rows;
}

/** A failed line, with the contents of its record; variables are null once they are removed. */
export interface FailedLine {
  readonly line: number;
  readonly id: string | null;
  /** JSON texts. */
  readonly inputVariables: string | null;
  readonly fileData: string | null;
  readonly user: string | null;
  readonly session: string | null;
  readonly tags: readonly string[] | null;
  readonly metadata: string | null;
}

/** The next failed lines after a line, in the order of the file; empty at the end. */
export async function readFailedLines(
  db: Db,
  batchId: string,
  after: number,
): Promise<FailedLine[]> {
  const { rows } = await sql<FailedLine>`
    select line, id, input_variables::text, file_data::text, end_user as user, session, tags, metadata::text from (
      select l.line, l.id, record.*,
        sum(record.bytes) over (order by l.line) - record.bytes as before
      from (
        select line, id, execution_id from batch_lines
        where batch_id = ${batchId} and line > ${after} and status = 'failed'
        order by line limit ${resultRowsMax}) as l
      left join lateral (
        select e.input_variables, e.file_data, e.end_user, e.session, e.tags, e.metadata,
          coalesce(octet_length(e.input_variables::text), 0) + coalesce(octet_length(e.file_data::text), 0) as bytes
        from executions e
        where e.id = l.execution_id and e.id >= (select id_floor(at) from history_floor)
        offset 0) as record on true) as sized
    where coalesce(before, 0) < ${resultBytesMax} order by line`.execute(db);
  return rows;
}

const erasedText = 'The user or a value of the line was erased.';

/** Batches with lines that wait, of one agent or of all. No line of them starts until the transaction ends. */
export async function lockWaitingBatches(
  trx: Trx,
  { workspaceId, agentId }: { readonly workspaceId: string; readonly agentId: string | null },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select b.id from batches b
    where b.workspace_id = ${workspaceId} and b.waiting > 0
      and (${agentId}::uuid is null or b.agent_id = ${agentId})
    order by b.id for update`.execute(trx);
  return rows.map(({ id }) => id);
}

/**
 * Removes an erased user, or lines with an erased value or label, from batches that wait: those lines lose their id and are canceled, because the
 * execution of one would be a new record of the user. Other lines have no contents. Must come last in its transaction, which
 * has locked the batches.
 */
export async function cancelErasedLines(
  trx: Trx,
  ids: readonly string[],
  erased: ErasedValue & { readonly workspaceId: string },
): Promise<void> {
  const { workspaceId, variable, label, value } = erased;
  const hasLabel =
    label === null ? sql`l.end_user = ${value}` : labelsHaveLabel(sql`l.labels`, erased);
  const matches = variable === null ? hasLabel : sql`l.variables ->> ${variable} = ${value}`;
  if (ids.length === 0) return;
  const { rows } = await sql<EndedRow>`
    with erased as materialized (
      select l.batch_id, l.line, ${lineBytes} from batch_lines l
      where l.batch_id = any(${ids}::uuid[]) and l.status = 'waiting' and ${matches}),
    canceled as (
      update batch_lines l set status = 'canceled', error_code = 'CANCELED', error = ${erasedText},
        id = null, variables = null, labels = null, end_user = null
      from erased e where l.batch_id = e.batch_id and l.line = e.line
      returning l.batch_id, e.bytes),
    counted as (
      select b.id, count(*)::int as lines, sum(c.bytes) as bytes, b.status = 'processing' and b.waiting + b.processing = count(*) as ends
      from canceled c join batches b on b.id = c.batch_id group by b.id)
    update batches b set waiting = b.waiting - c.lines, canceled = b.canceled + c.lines,
      bytes = case when b.waiting = c.lines then 0 else greatest(0, b.bytes - c.bytes) end,
      status = case when c.ends then 'completed' else b.status end,
      completed_at = case when c.ends then clock_timestamp() end
    from counted c where b.id = c.id
    returning b.id, b.agent_id, c.ends, b.total, b.waiting, b.processing, b.success, b.failed, b.canceled, b.refused,
      (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`.execute(trx);
  const ended = rows.filter(({ ends }) => ends);
  await writeEvents(
    trx,
    ended.map(({ id, agentId, nowMs: atMs, ends: _, ...counts }) =>
      batchEvent({ id, workspaceId, agentId, status: 'completed', counts, atMs }),
    ),
  );
}

type EndedRow = BatchCounts & {
  readonly id: string;
  readonly agentId: string;
  readonly ends: boolean;
  readonly nowMs: number;
};
