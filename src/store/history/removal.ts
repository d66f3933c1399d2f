import type { EndStatus, Source } from '../../core/execution/execution.ts';
import type { ExecutionErrorCode } from '../../core/failure.ts';
import type { Tally } from '../../core/history/statistics.ts';
import { uuid7Time } from '../../core/id.ts';
import type { Pipelines, Send, Statement } from '../connection/pipeline.ts';
import { idBounds } from './id-bounds.ts';
import { overdueBefore } from './retention.ts';
import { subtractStatistics } from './statistics.ts';

/**
 * The one way records are deleted: the rows and what the statistics hold of them, in one small transaction. It asks for
 * no lock of limits or of the queue, so neither an acceptance nor a claim can wait for it, and between its first lock
 * on the statistics and the commit nothing waits for this process: all of that is sent at once.
 *
 * Dropping a whole month is the exception (`months.ts`); the floor makes it one step for every reader.
 */

/** The most records that one transaction deletes. */
export const removedMax = 1_000;

export interface RemovedRecord {
  readonly id: string;
  readonly agentId: string;
  /** The run of a workflow that it was a step of. */
  readonly workflowRunId: string | null;
}

/** Which records: these, or the oldest of an agent, from an id on, whose time is up. */
export type Removal =
  | { readonly ids: readonly string[] }
  | {
      readonly agentId: string;
      readonly from: string;
      readonly limit: number;
    };

/** Sent with the deletion and committed with it; told what was deleted, since others may have been quicker. */
export type InSameTransaction = (
  send: Send,
  removed: readonly RemovedRecord[],
) => readonly Promise<unknown>[];

/**
 * Deletes the ended ones among these records, and answers which they were; what is a step of a workflow's run stays as
 * long as that has not ended. What somebody else has locked is passed
 * over. What lies below the floor is gone already: nothing there may be taken from the statistics a second time.
 */
export async function removeRecords(
  pipelines: Pipelines,
  removal: Removal,
  inSameTransaction: InSameTransaction = () => [],
): Promise<RemovedRecord[]> {
  const given = 'ids' in removal ? removal.ids.slice(0, removedMax) : [];
  return pipelines.use(async (send) => {
    const [, , rows] = await Promise.all([
      send({ name: 'begin', text: 'begin isolation level read committed' }),
      send({ name: 'removal-lock-timeout', text: `set local lock_timeout = '2s'` }),
      'ids' in removal
        ? send<DeletedRow>(deleteGiven, [given, ...idBounds(given)])
        : send<DeletedRow>(deleteOldest, [
            removal.agentId,
            removal.from,
            Math.min(removal.limit, removedMax),
          ]),
    ]);
    const removed = rows.map(({ id, agent_id, workflow_run_id }) => ({
      id,
      agentId: agent_id,
      workflowRunId: workflow_run_id,
    }));
    await Promise.all([
      subtractStatistics(send, rows.map(tallyOf)),
      ...inSameTransaction(send, removed),
      send({ name: 'commit', text: 'commit' }),
    ]);
    return removed;
  });
}

interface DeletedRow {
  readonly id: string;
  readonly agent_id: string;
  readonly status: EndStatus;
  readonly source: Source;
  readonly prompt_version_id: string;
  readonly model: string;
  readonly api_key_id: string | null;
  readonly error_code: ExecutionErrorCode | null;
  readonly workflow_run_id: string | null;
}

const returned = `returning e.id, e.agent_id, e.status, e.source, e.prompt_version_id, e.model, e.api_key_id, e.error_code,
      e.workflow_run_id`;
const aboveFloor = `e.id >= (select id_floor(at) from history_floor)`;

/**
 * Not the record of a step whose run goes on. Looked up row by row: of a join PostgreSQL might read all runs, or lose the
 * order of the records.
 */
const isFree = `coalesce(
        (select w.completed_at is not null from workflow_runs w where w.id = r.workflow_run_id), true)`;

const deleteGiven: Statement = {
  name: 'removal-delete-given',
  text: `delete from executions e
    where e.status <> 'processing' and ${aboveFloor} and e.id = any(array(
      select id from executions r
      where id = any($1::uuid[]) and id between $2::uuid and $3::uuid and status <> 'processing' and ${isFree}
      order by id for update skip locked))
      and e.id between $2::uuid and $3::uuid
    ${returned}`,
};

const deleteOldest: Statement = {
  name: 'removal-delete-oldest',
  text: `delete from executions e
    where e.status <> 'processing' and ${aboveFloor} and e.id = any(array(
      select id from executions r
      where agent_id = $1 and status <> 'processing' and ${isFree} and id >= $2 and id < (
        select ${overdueBefore('records_days')}
        from agents a join workspaces w on w.id = a.workspace_id where a.id = $1)
      order by id limit $3 for update skip locked))
    ${returned}`,
};

/** By the time inside the id, as when it was added. */
function tallyOf(row: DeletedRow): Tally {
  return {
    agentId: row.agent_id,
    executedAtMs: uuid7Time(row.id),
    status: row.status,
    source: row.source,
    promptVersionId: row.prompt_version_id,
    model: row.model,
    apiKeyId: row.api_key_id,
    errorCode: row.error_code,
    recorded: true,
    inputTokens: 0,
    outputTokens: 0,
    costUsd: '0',
    costKnown: true,
    latencyMs: null,
  };
}
