import { sql } from 'kysely';
import type { ExecutionSettings, WorkflowStepOf } from '../../core/agent/model-settings.ts';
import type { Rendering } from '../../core/agent/render-prompt.ts';
import type { ExecutionStatus, Source } from '../../core/execution/execution.ts';
import type { AcceptedAs } from '../../core/execution/queued-execution.ts';
import type { ExecutionErrorCode } from '../../core/failure.ts';
import type { Db } from '../connection/database.ts';
import type { Send, Statement } from '../connection/pipeline.ts';
import { idBounds } from '../history/id-bounds.ts';

/** Reading executions. */

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
  /** JSON text, as sent. */
  readonly inputVariables: string | null;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
  readonly attempts: number;
  readonly latencyMs: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: string;
  readonly costKnown: boolean;
  readonly finishReason: string | null;
  readonly errorCode: ExecutionErrorCode | null;
  readonly error: string | null;
  readonly output: string | null;
  readonly workflowRunId: string | null;
  readonly stepName: string | null;
}

/** A record as lists hold it. */
export interface ExecutionListRow extends ExecutionRow {
  /** Whether its bodies were read; false where those before it in the list are as much as is read at once. */
  readonly fits: boolean;
}

export interface ExecutionDetailRow extends ExecutionRow {
  /** Null once the run of the workflow is gone; an export leaves it out. */
  readonly workflowId?: string | null;
  readonly systemPrompt: string | null;
  readonly userPrompt: string | null;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
}

const short = `e.id, e.agent_id as "agentId", e.agent_name as "agentName", e.status::text as status, e.source::text as source,
  e.executed_at as "executedAt", e.executed_by as "executedBy", e.api_key_id as "apiKeyId", e.model, e.temperature,
  e.prompt_version_id as "promptVersionId", e.prompt_version_label as "promptVersionLabel",
  e.completed_at as "completedAt", e.latency_ms as "latencyMs", e.input_tokens as "inputTokens",
  e.output_tokens as "outputTokens", e.cost_usd as "costUsd", e.cost_known as "costKnown",
  e.finish_reason as "finishReason", e.error_code as "errorCode", e.error, e.workflow_run_id as "workflowRunId",
  e.step_name as "stepName"`;
const bodies = 'e.input_variables as "inputVariables", e.output';
const figures = `coalesce(e.started_at, q.started_at) as "startedAt",
  case when q.id is null then e.attempts::int
    else q.failures + q.losses + (q.worker is not null)::int end as attempts`;
const details = `e.system_prompt as "systemPrompt", e.user_prompt as "userPrompt", e.ip_address as "ipAddress",
  e.user_agent as "userAgent"`;
const bytes = `(coalesce(octet_length(e.output), 0) + coalesce(octet_length(e.system_prompt), 0)
  + coalesce(octet_length(e.user_prompt), 0) + 4 * coalesce(pg_column_size(e.input_variables), 0))`;
// A page may hold a hundred variables that are compressed to a hundredth: there it is worth a look at them.
const bodyBytes = `coalesce(octet_length(e.output), 0) + coalesce(case
    when pg_column_compression(e.input_variables) is null then pg_column_size(e.input_variables)
    else octet_length(e.input_variables::text) end, 0)`;
/** Of the texts of records that are read at once; a single record may be larger. */
const textBytesMax = 8_388_608;
const bytesBefore = `sum(${bodyBytes}) over (order by e.id desc rows between unbounded preceding and 1 preceding)`;

/** The columns of an `ExecutionRow` of a record `e`, but for its progress. */
export const whole = sql.raw(`${short}, ${bodies}`);
/** The same of a `ExecutionListRow`, where `e` is of those that are `fitted`. */
export const listed = sql.raw(`${short}, e.fits,
  case when e.fits then e.input_variables end as "inputVariables", case when e.fits then e.output end as output`);
/** Records `e`, newest first, each with a word on whether it fits. */
export const fitted = sql.raw(`e.*, coalesce(${bytesBefore}, 0) < ${textBytesMax} as fits`);
/** The same without its bodies, which PostgreSQL stores apart where they are long, and then need not look up. */
export const summarized = sql.raw(
  `${short}, true as fits, null::text as "inputVariables", null::text as output`,
);
/** What a run is up to stands in the queue `q` until it ends. */
export const progress = sql.raw(figures);
/** What an `ExecutionDetailRow` has besides. */
export const detailed = sql.raw(details);
/** About what the texts of a record `e` take, without a look at them. Variables may be stored compressed. */
export const textBytes = sql.raw(bytes);

/** An execution and the agent that it is said to be one of. */
export interface ExecutionKey {
  readonly agentId: string;
  readonly executionId: string;
}

/**
 * Those of these executions that there are, whole, by their place in the question, as far as they fit into one answer; and
 * the places of those that did not.
 */
export async function readExecutions(
  send: Send,
  asked: readonly ExecutionKey[],
): Promise<{ rows: ReadonlyMap<number, ExecutionDetailRow>; left: ReadonlySet<number> }> {
  const ids = asked.map(({ executionId }) => executionId);
  const agentIds = asked.map(({ agentId }) => agentId);
  const rows = await send<ExecutionDetailRow & { place: number; found: string }>(readAsked, [
    ids,
    agentIds,
    textBytesMax,
    ...idBounds(ids),
  ]);
  const whole = new Map(rows.map((row) => [row.place - 1, row]));
  // The first always fits, and says of all that there are.
  const found = rows[0]?.found.split(',').map((place) => Number(place) - 1) ?? [];
  return { rows: whole, left: new Set(found.filter((place) => !whole.has(place))) };
}

// Each by its key, in the one partition that its key is of.
const readAsked: Statement = {
  name: 'read-executions',
  text: `select * from (
      select asked.place::int as place, string_agg(asked.place::text, ',') over () as found, one.*,
        sum(one.bytes) over (order by asked.place) - one.bytes as before
      from unnest($1::uuid[], $2::uuid[]) with ordinality as asked (id, agent_id, place)
      cross join lateral (
        select ${short}, ${bodies}, ${figures}, ${details}, ${bytes} as bytes,
          (select r.workflow_id from workflow_runs r where r.id = e.workflow_run_id) as "workflowId"
        from executions e left join execution_queue q on q.id = e.id
        where e.id = asked.id and e.agent_id = asked.agent_id and e.id between $4::uuid and $5::uuid
          and e.id >= (select id_floor(at) from history_floor)
        offset 0) as one) as sized
    where before < $3::bigint`,
};

/** Those of these records that there still are, newest first, with the bodies of as many as fit. */
export async function readExecutionListRows(db: Db, ids: readonly string[]): Promise<ExecutionListRow[]> {
  const [lowest, highest] = idBounds(ids);
  const { rows } = await sql<ExecutionListRow>`
    select ${listed}, ${progress}
    from (
      select ${fitted} from executions e
      where e.id = any(${ids}::uuid[]) and e.id between ${lowest}::uuid and ${highest}::uuid
        and (e.status = 'processing' or e.id >= (select id_floor(at) from history_floor))) as e
      left join execution_queue q on q.id = e.id
    order by e.id desc`.execute(db);
  return rows;
}

/** Those of these executions whose run has ended. */
export async function findEndedExecutions(db: Db, executionIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select asked.id::text as id from unnest(${executionIds}::uuid[]) as asked (id)
    where not exists (select from execution_queue q where q.id = asked.id)`.execute(db);
  return rows.map((row) => row.id);
}

/** What must be known of an unfinished run to end it. */
export interface LiveExecution extends AcceptedAs {
  readonly storeBodies: boolean;
  /** Its agent, where that hands out slots. */
  readonly slotAgentId: string | null;
  /** The step of a workflow's run that it is the call of. */
  readonly workflow: WorkflowStepOf | null;
  /** Whether work on it has begun. */
  readonly begun: boolean;
}

/** By id; those that have ended are left out. */
export async function findLiveExecutions(
  db: Db,
  executionIds: readonly string[],
): Promise<Map<string, LiveExecution>> {
  const { rows } = await sql<
    Omit<LiveExecution, 'workflow'> & { id: string; workflow: string | null }
  >`
    select q.id, case when q.has_slot is null then null else q.agent_id end as slot_agent_id,
      e.source, e.prompt_version_id, e.model, e.api_key_id, e.settings -> 'workflow' as workflow,
      e.settings ->> 'storeBodies' is distinct from 'false' as store_bodies, q.started_at is not null as begun
    from execution_queue q join executions e on e.id = q.id
    where q.id = any(${executionIds}::uuid[]) and e.id = any(${executionIds}::uuid[])`.execute(db);
  return new Map(
    rows.map(({ id, workflow, ...run }) => [
      id,
      { ...run, workflow: workflow === null ? null : (JSON.parse(workflow) as WorkflowStepOf) },
    ]),
  );
}

/** What the prompts of these runs are made of, by id; those that have ended are left out. */
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
