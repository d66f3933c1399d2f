import type { EndStatus, StoredSource } from '../../core/execution/execution.ts';
import type { ExecutionErrorCode } from '../../core/failure.ts';
import type { Tally } from '../../core/history/statistics.ts';
import { uuid7Time } from '../../core/id.ts';
import type { Pipelines, PlainStatement, Send } from '../../db/pipeline.ts';
import { begin, commit } from '../../db/statements.ts';
import { type LabelColumns, labelFields, labelsOfRow } from '../execution/executions.ts';
import { idBounds } from './id-bounds.ts';
import { overdueBefore } from './retention.ts';
import { sendChanges } from './search-index.ts';
import { subtractStatistics } from './statistics.ts';

/**
 * Deletes records. One small transaction deletes the rows, subtracts them from the statistics and writes what the caller adds.
 *
 * Invariants
 * - It needs no lock of limits or of the queue, so no admission or claim waits for it.
 * - Everything after its first lock on the statistics is sent in one batch, so nobody waits for this process.
 * - A record below the floor counts as deleted already. It must not be subtracted again.
 *
 * Dropping a whole month (`months.ts`) is the only other way; the floor makes it atomic for every reader.
 */

/** The maximum number of records per transaction. */
export const deletedMax = 1_000;

export interface DeletedRecord {
  readonly id: string;
  readonly workspaceId: string;
  readonly agentId: string;
  /** The end user it was for. */
  readonly user: string | null;
}

/** Deletes these records, or the oldest overdue ones of an agent from an id on. */
export type Deletion =
  | { readonly ids: readonly string[] }
  | {
      readonly agentId: string;
      readonly from: string;
      readonly limit: number;
    };

/** Sends further statements in the transaction of the deletion. `deleted` excludes what another process deleted first. */
export type InSameTransaction = (
  send: Send,
  deleted: readonly DeletedRecord[],
) => readonly Promise<unknown>[];

/** Deletes those of these records that no open workflow run needs and that nobody has locked. Returns them. */
export async function deleteRecords(
  pipelines: Pipelines,
  deletion: Deletion,
  inSameTransaction: InSameTransaction = () => [],
): Promise<DeletedRecord[]> {
  const ids = 'ids' in deletion ? deletion.ids.slice(0, deletedMax) : [];
  return pipelines.use(async (send) => {
    const [, , rows] = await Promise.all([
      send(begin),
      send({ name: 'records-lock-timeout', text: `set local lock_timeout = '2s'` }),
      'ids' in deletion
        ? send<DeletedRow>(deleteGiven, [ids, ...idBounds(ids)])
        : send<DeletedRow>(deleteOldest, [
            deletion.agentId,
            deletion.from,
            Math.min(deletion.limit, deletedMax),
          ]),
    ]);
    const deleted = rows.map(toDeleted);
    await Promise.all([
      subtractStatistics(send, rows.map(toTally)),
      ...sendChanges(
        send,
        deleted.map(({ id }) => id),
      ),
      ...inSameTransaction(send, deleted),
      send(commit),
    ]);
    return deleted;
  });
}

interface DeletedRow extends LabelColumns {
  readonly id: string;
  readonly workspace_id: string;
  readonly agent_id: string;
  readonly status: EndStatus;
  readonly source: StoredSource;
  readonly prompt_version_id: string;
  readonly model: string;
  readonly api_key_id: string | null;
  readonly error_code: ExecutionErrorCode | null;
}

const returning = `returning e.id, e.workspace_id, e.agent_id, e.status, e.source, e.prompt_version_id, e.model, e.api_key_id, e.error_code,
  ${labelFields}`;
const aboveFloor = `e.id >= (select id_floor(at) from history_floor)`;

/** SQL: no open workflow run needs it. A subquery per row: with a join PostgreSQL might read all runs or lose the order. */
const isDeletable = `coalesce(
        (select w.completed_at is not null from workflow_runs w where w.id = r.workflow_run_id), true)`;

/** SQL: deletes records `e` with their transient outputs and the chunks of their streams. */
const deleteWhere = (condition: string) => `with deleted as (
      delete from executions e where ${aboveFloor} and ${condition}
      ${returning}),
    outputs as (delete from transient_outputs t using deleted where t.execution_id = deleted.id),
    chunks as (delete from stream_chunks c using deleted where c.execution_id = deleted.id)
    select * from deleted`;

const deleteGiven: PlainStatement = {
  name: 'records-delete-given',
  text: deleteWhere(`e.id = any(array(
        select id from executions r
        where id = any($1::uuid[]) and id between $2::uuid and $3::uuid and ${isDeletable}
        order by id for update skip locked))
      and e.id between $2::uuid and $3::uuid`),
};

const deleteOldest: PlainStatement = {
  name: 'records-delete-oldest',
  text: deleteWhere(`e.id = any(array(
        select id from executions r
        where agent_id = $1 and ${isDeletable} and id >= $2 and id < (
          select ${overdueBefore('records_days')}
          from agents a join workspaces w on w.id = a.workspace_id where a.id = $1)
        order by id limit $3 for update skip locked))`),
};

function toDeleted(row: DeletedRow): DeletedRecord {
  const { id, workspace_id: workspaceId, agent_id: agentId } = row;
  return { id, workspaceId, agentId, user: labelsOfRow(row)?.user ?? null };
}

/** Uses the time in the id, like the insertion. */
function toTally(row: DeletedRow): Tally {
  return {
    agentId: row.agent_id,
    executedAtMs: uuid7Time(row.id),
    status: row.status,
    source: row.source,
    promptVersionId: row.prompt_version_id,
    model: row.model,
    apiKeyId: row.api_key_id,
    errorCode: row.error_code,
    labels: labelsOfRow(row),
    recorded: true,
    inputTokens: 0,
    outputTokens: 0,
    costUsd: '0',
    costKnown: true,
    latencyMs: null,
  };
}
