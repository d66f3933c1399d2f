import type { Tally } from '../../../core/history/statistics.ts';
import { uuid7Time } from '../../../core/id.ts';
import { aboveFloor, idBounds } from '../../../db/id-bounds.ts';
import type { Pipelines, Send } from '../../../db/pipeline.ts';
import { type Sql, sql } from '../../../db/sql.ts';
import { statement } from '../../../db/statement.ts';
import { begin, commit } from '../../../db/statements.ts';
import { sendChanges } from '../../../engine/complete/search-changes.ts';
import { subtractStatistics } from '../../../engine/complete/statistics-buckets.ts';
import { type LabelColumns, labelFields, labelsOfRow } from '../../../engine/read/executions.ts';
import { overdueBefore } from './retention-statements.ts';

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
export type Deletion = { readonly ids: readonly string[] } | OldestRecords;

interface OldestRecords {
  readonly agentId: string;
  readonly from: string;
  readonly limit: number;
}

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
    const [, , deleted] = await Promise.all([
      send(begin),
      send(limitLockWait),
      'ids' in deletion
        ? send(deleteGiven, { ids, bounds: idBounds(ids) })
        : send(deleteOldest, deletion),
    ]);
    await Promise.all([
      subtractStatistics(send, deleted.map(toTally)),
      ...sendChanges(
        send,
        deleted.map(({ id }) => id),
      ),
      ...inSameTransaction(send, deleted),
      send(deleteDrafts, [...new Set(deleted.map(({ promptVersionId }) => promptVersionId))]),
      send(commit),
    ]);
    return deleted;
  });
}

type DeletedRow = DeletedRecord &
  LabelColumns &
  Pick<Tally, 'status' | 'source' | 'promptVersionId' | 'model' | 'apiKeyId' | 'errorCode'>;

// A draft has one execution.
const deleteDrafts = statement<readonly string[]>('records-delete-drafts')`
  delete from prompt_versions where id = any(${(ids) => ids}::uuid[]) and draft_of is not null`;

const limitLockWait = statement<void>('records-lock-timeout')`set local lock_timeout = '2s'`;

/** SQL: no open workflow run needs it. A subquery per row: with a join PostgreSQL might read all runs or lose the order. */
const isDeletable = sql`coalesce(
        (select w.completed_at is not null from workflow_runs w where w.id = r.workflow_run_id), true)`;

/** SQL: deletes records `e` with their steps, their transient outputs and the chunks of their streams. */
const deleteWhere = (condition: Sql) => sql`
  with deleted as (
    delete from executions e where ${aboveFloor} and ${condition}
    returning e.id, e.workspace_id, e.agent_id, e.status, e.source, e.prompt_version_id, e.model, e.api_key_id,
      e.error_code, ${labelFields}),
  steps as (delete from execution_steps s using deleted where s.execution_id = deleted.id),
  outputs as (delete from transient_outputs t using deleted where t.execution_id = deleted.id),
  chunks as (delete from stream_chunks c using deleted where c.execution_id = deleted.id)
  select * from deleted`;

interface GivenRecords {
  readonly ids: readonly string[];
  readonly bounds: ReturnType<typeof idBounds>;
}

const isBetween = sql`between ${({ bounds }: GivenRecords) => bounds[0]}::uuid
  and ${({ bounds }: GivenRecords) => bounds[1]}::uuid`;

const deleteGiven = statement<GivenRecords, DeletedRow>('records-delete-given')`${deleteWhere(sql`
      e.id = any(array(
        select id from executions r
        where id = any(${({ ids }: GivenRecords) => ids}::uuid[]) and id ${isBetween} and ${isDeletable}
        order by id for update skip locked))
      and e.id ${isBetween}`)}`;

const agentId = (oldest: OldestRecords) => oldest.agentId;

const deleteOldest = statement<OldestRecords, DeletedRow>(
  'records-delete-oldest',
)`${deleteWhere(sql`
      e.id = any(array(
        select id from executions r
        where agent_id = ${agentId} and ${isDeletable} and id >= ${({ from }: OldestRecords) => from} and id < (
          select ${overdueBefore('records_days')}
          from agents a join workspaces w on w.id = a.workspace_id where a.id = ${agentId})
        order by id limit ${({ limit }: OldestRecords) => Math.min(limit, deletedMax)} for update skip locked))`)}`;

/** Uses the time in the id, like the insertion. */
function toTally(row: DeletedRow): Tally {
  return {
    ...row,
    executedAtMs: uuid7Time(row.id),
    labels: labelsOfRow(row),
    recorded: true,
    inputTokens: 0,
    outputTokens: 0,
    costUsd: '0',
    costKnown: true,
    latencyMs: null,
  };
}
