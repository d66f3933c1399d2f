import { sql } from 'kysely';
import type { ExecutionSettings, WorkflowStepOf } from '../../core/agent/model-settings.ts';
import type { Rendering } from '../../core/agent/render-prompt.ts';
import type { Attempt } from '../../core/execution/attempt.ts';
import type { ExecutionStatus, Source } from '../../core/execution/execution.ts';
import type { Labels } from '../../core/execution/labels.ts';
import type { AcceptedAs } from '../../core/execution/queued-execution.ts';
import type { ExecutionErrorCode } from '../../core/failure.ts';
import type { CostSource } from '../../core/model/model-port.ts';
import type { Db } from '../connection/database.ts';
import type { Send, Statement } from '../connection/pipeline.ts';
import { idBounds } from '../history/id-bounds.ts';

/** Reads executions: records that have ended, and those in the queue. */

export interface ExecutionRow {
  readonly id: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly status: ExecutionStatus;
  readonly source: Source;
  readonly executedAt: Date;
  readonly executedBy: string | null;
  readonly apiKeyId: string | null;
  readonly model: string;
  readonly temperature: number | null;
  readonly promptVersionId: string;
  readonly promptVersionLabel: string;
  /** JSON text, as sent by the caller. */
  readonly inputVariables: string | null;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
  readonly attempts: number;
  readonly latencyMs: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: string;
  readonly costKnown: boolean;
  readonly costSource: CostSource | null;
  readonly finishReason: string | null;
  /** Null if all were applied. */
  readonly settingsNotApplied: string[] | null;
  readonly errorCode: ExecutionErrorCode | null;
  readonly error: string | null;
  readonly output: string | null;
  readonly reasoningTokens: number | null;
  readonly modelAnswered: string | null;
  readonly providerRequestId: string | null;
  readonly refusalText: string | null;
  /** JSON text. */
  readonly outputJson: string | null;
  /** JSON text. */
  readonly toolCalls: string | null;
  readonly workflowRunId: string | null;
  readonly stepName: string | null;
  readonly user: string | null;
  readonly session: string | null;
  readonly tags: string[] | null;
  /** JSON text of an object of strings. */
  readonly metadata: string | null;
}

/** A record in a list. */
export interface ExecutionListRow extends ExecutionRow {
  /** Whether its bodies were read; false if the records before it reach the size limit. */
  readonly fits: boolean;
}

export interface ExecutionDetailRow extends ExecutionRow {
  /** Null if the workflow run does not exist anymore, and in exports. */
  readonly workflowId?: string | null;
  readonly systemPrompt: string | null;
  readonly userPrompt: string | null;
  readonly reasoningText: string | null;
  /** What was sent beside the prompts, as JSON text. */
  readonly request: string | null;
  /** Oldest first; null if the record itself describes the only attempt. */
  readonly attemptList: readonly Attempt[] | null;
  /** What is known of the images and files among the variables, as JSON text. */
  readonly files: string | null;
  /** The data URLs that `inputVariables` refers to, as JSON text. */
  readonly fileData: string | null;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
}

/** SQL: the labels of record `e`. */
export const labelFields = 'e.end_user as "user", e.session, e.tags, e.metadata';
export const labelColumns = sql.raw(labelFields);

const summaryFields = `e.id, e.agent_id as "agentId", e.agent_name as "agentName", e.status::text as status, e.source::text as source,
  e.executed_at as "executedAt", e.executed_by as "executedBy", e.api_key_id as "apiKeyId", e.model, e.temperature,
  e.prompt_version_id as "promptVersionId", e.prompt_version_label as "promptVersionLabel",
  e.completed_at as "completedAt", e.latency_ms as "latencyMs", e.input_tokens as "inputTokens",
  e.output_tokens as "outputTokens", e.cost_usd as "costUsd", e.cost_known as "costKnown", e.cost_source as "costSource",
  e.settings_not_applied as "settingsNotApplied",
  e.finish_reason as "finishReason", e.error_code as "errorCode", e.error, e.workflow_run_id as "workflowRunId",
  e.step_name as "stepName", ${labelFields}, e.reasoning_tokens as "reasoningTokens", e.model_answered as "modelAnswered",
  e.provider_request_id as "providerRequestId"`;
const bodies = `e.input_variables as "inputVariables", e.output, e.refusal_text as "refusalText",
  e.output_json as "outputJson", e.tool_calls as "toolCalls"`;
const progress = `coalesce(e.started_at, q.started_at) as "startedAt",
  case when q.id is null then e.attempts::int
    else q.earlier_attempts + q.failures + q.losses + (q.worker is not null)::int end as attempts,
  coalesce(e.attempt_list, q.attempt_list) as "attemptList"`;
const details = `e.system_prompt as "systemPrompt", e.user_prompt as "userPrompt", e.reasoning_text as "reasoningText", e.request, e.files, e.file_data as "fileData", e.ip_address as "ipAddress",
  e.user_agent as "userAgent"`;
const bytes = `(coalesce(octet_length(e.output), 0) + coalesce(octet_length(e.system_prompt), 0)
  + coalesce(octet_length(e.user_prompt), 0) + coalesce(octet_length(e.reasoning_text), 0)
  + coalesce(octet_length(e.refusal_text), 0) + 4 * coalesce(pg_column_size(e.output_json), 0)
  + 4 * coalesce(pg_column_size(e.request), 0)
  + 4 * coalesce(pg_column_size(e.tool_calls), 0) + 4 * coalesce(pg_column_size(e.input_variables), 0)
  + coalesce(pg_column_size(e.file_data), 0))`;
// Exact, because a page may contain a hundred variables that are compressed to a hundredth of their size.
const bodyBytes = `coalesce(octet_length(e.output), 0) + coalesce(octet_length(e.refusal_text), 0)
  + coalesce(octet_length(e.tool_calls::text), 0) + coalesce(case
    when pg_column_compression(e.input_variables) is null then pg_column_size(e.input_variables)
    else octet_length(e.input_variables::text) end, 0) + coalesce(case
    when pg_column_compression(e.output_json) is null then pg_column_size(e.output_json)
    else octet_length(e.output_json::text) end, 0)`;
/** Limits the text of records that are read at once, except for the first record. */
const textBytesMax = 8_388_608;
const bytesBefore = `sum(${bodyBytes}) over (order by e.id desc rows between unbounded preceding and 1 preceding)`;

/** SQL: the columns of an `ExecutionRow` of record `e`, except for its progress. */
export const recordColumns = sql.raw(`${summaryFields}, ${bodies}`);
/** SQL: the columns of an `ExecutionListRow`; `e` must come from `withFits`. */
export const listColumns = sql.raw(`${summaryFields}, e.fits,
  case when e.fits then e.input_variables end as "inputVariables", case when e.fits then e.output end as output,
  case when e.fits then e.refusal_text end as "refusalText",
  case when e.fits then e.output_json end as "outputJson",
  case when e.fits then e.tool_calls end as "toolCalls"`);
/** SQL: records `e`, newest first, each with a flag whether its bodies fit. */
export const withFits = sql.raw(`e.*, coalesce(${bytesBefore}, 0) < ${textBytesMax} as fits`);
/** SQL: without bodies. PostgreSQL stores long ones out of line and then need not read them. */
export const summaryColumns = sql.raw(
  `${summaryFields}, true as fits, null::text as "inputVariables", null::text as output,
  null::text as "refusalText", null::text as "outputJson", null::json as "toolCalls"`,
);
/** SQL: start and attempts, which are in the queue `q` until the execution ends. */
export const progressColumns = sql.raw(progress);
/** SQL: the additional columns of an `ExecutionDetailRow`. */
export const detailColumns = sql.raw(details);
/** SQL: the approximate size of the texts of record `e`, without reading them. Variables may be stored compressed. */
export const textBytes = sql.raw(bytes);

export type LabelColumns = Pick<ExecutionRow, 'user' | 'session' | 'tags' | 'metadata'>;

/** The labels of a record; null if it has none. */
export function labelsOfRow({ user, session, tags, metadata }: LabelColumns): Labels | null {
  if ((user ?? session ?? tags ?? metadata) === null) return null;
  return { user, session, tags, metadata };
}

/** Identifies an execution. It is not found if it belongs to another agent. */
export interface ExecutionKey {
  readonly agentId: string;
  readonly executionId: string;
}

/**
 * Reads the existing ones of these executions. `rows` contains them by index, as far as they fit into one response; `left`
 * contains the indexes of those that did not fit.
 */
export async function readExecutions(
  send: Send,
  keys: readonly ExecutionKey[],
): Promise<{ rows: ReadonlyMap<number, ExecutionDetailRow>; left: ReadonlySet<number> }> {
  const ids = keys.map(({ executionId }) => executionId);
  const agentIds = keys.map(({ agentId }) => agentId);
  const rows = await send<ExecutionDetailRow & { ordinal: number; found: string }>(readByKey, [
    ids,
    agentIds,
    textBytesMax,
    ...idBounds(ids),
  ]);
  const byIndex = new Map(rows.map((row) => [row.ordinal - 1, row]));
  // The first row always fits, and lists all that exist.
  const found = rows[0]?.found.split(',').map((ordinal) => Number(ordinal) - 1) ?? [];
  return { rows: byIndex, left: new Set(found.filter((index) => !byIndex.has(index))) };
}

// Each row is looked up by its key, in the one partition of that key.
const readByKey: Statement = {
  name: 'read-executions',
  text: `select * from (
      select given.ordinal::int as ordinal, string_agg(given.ordinal::text, ',') over () as found, one.*,
        sum(one.bytes) over (order by given.ordinal) - one.bytes as before
      from unnest($1::uuid[], $2::uuid[]) with ordinality as given (id, agent_id, ordinal)
      cross join lateral (
        select ${summaryFields}, ${bodies}, ${progress}, ${details}, ${bytes} as bytes,
          (select r.workflow_id from workflow_runs r where r.id = e.workflow_run_id) as "workflowId"
        from executions e left join execution_queue q on q.id = e.id
        where e.id = given.id and e.agent_id = given.agent_id and e.id between $4::uuid and $5::uuid
          and e.id >= (select id_floor(at) from history_floor)
        offset 0) as one) as sized
    where before < $3::bigint`,
};

/** The existing ones of these records, newest first, with the bodies of as many as fit. */
export async function readExecutionListRows(
  db: Db,
  ids: readonly string[],
): Promise<ExecutionListRow[]> {
  const [lowest, highest] = idBounds(ids);
  const { rows } = await sql<ExecutionListRow>`
    select ${listColumns}, ${progressColumns}
    from (
      select ${withFits} from executions e
      where e.id = any(${ids}::uuid[]) and e.id between ${lowest}::uuid and ${highest}::uuid
        and (e.status = 'processing' or e.id >= (select id_floor(at) from history_floor))) as e
      left join execution_queue q on q.id = e.id
    order by e.id desc`.execute(db);
  return rows;
}

/** The ids of these executions that have ended. */
export async function findEndedExecutions(
  db: Db,
  executionIds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select given.id::text as id from unnest(${executionIds}::uuid[]) as given (id)
    where not exists (select from execution_queue q where q.id = given.id)`.execute(db);
  return rows.map((row) => row.id);
}

/** What is needed to end an execution that has not ended. */
export interface LiveExecution extends AcceptedAs {
  readonly storeBodies: boolean;
  /** Its agent, if that has a `maxConcurrency`. */
  readonly slotAgentId: string | null;
  /** The step of a workflow run that it belongs to. */
  readonly workflow: WorkflowStepOf | null;
  /** Whether a worker has started it. */
  readonly begun: boolean;
}

/** By id; omits executions that have ended. */
export async function findLiveExecutions(
  db: Db,
  executionIds: readonly string[],
): Promise<Map<string, LiveExecution>> {
  const { rows } = await sql<
    Omit<LiveExecution, 'workflow' | 'labels'> &
      LabelColumns & { id: string; workflow: string | null }
  >`
    select q.id, case when q.has_slot is null then null else q.agent_id end as slot_agent_id,
      e.source, e.prompt_version_id, e.model, e.api_key_id, ${labelColumns}, e.settings -> 'workflow' as workflow,
      e.settings ->> 'storeBodies' is distinct from 'false' as store_bodies, q.started_at is not null as begun
    from execution_queue q join executions e on e.id = q.id
    where q.id = any(${executionIds}::uuid[]) and e.id = any(${executionIds}::uuid[])`.execute(db);
  return new Map(
    rows.map(({ id, workflow, user, session, tags, metadata, ...execution }) => [
      id,
      {
        ...execution,
        labels: labelsOfRow({ user, session, tags, metadata }),
        workflow: workflow === null ? null : (JSON.parse(workflow) as WorkflowStepOf),
      },
    ]),
  );
}

/** The inputs of the prompts of these executions by id; omits executions that have ended. */
export async function findRenderings(
  db: Db,
  executionIds: readonly string[],
): Promise<Map<string, Rendering & { readonly promptVersionId: string }>> {
  const { rows } = await sql<{
    id: string;
    promptVersionId: string;
    inputVariables: string;
    settings: string;
  }>`
    select e.id, e.prompt_version_id, e.input_variables, e.settings
    from executions e join execution_queue q on q.id = e.id
    where q.id = any(${executionIds}::uuid[]) and e.id = any(${executionIds}::uuid[])`.execute(db);
  return new Map(
    rows.map(({ id, settings, ...row }) => [
      id,
      { ...row, settings: JSON.parse(settings) as ExecutionSettings },
    ]),
  );
}
