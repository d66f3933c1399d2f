import { sql } from 'kysely';
import type { EndStatus, ExecutionStatus, Source } from '../core/execution.ts';
import type { RunFailureCode } from '../core/failure.ts';
import { uuidFloor } from '../core/id.ts';
import type { Db } from './db.ts';

/** Reading executions: one record, and the history of an agent. */

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
  readonly errorCode: RunFailureCode | null;
  readonly error: string | null;
  readonly output: string | null;
}

export interface ExecutionDetailRow extends ExecutionRow {
  readonly systemPrompt: string | null;
  readonly userPrompt: string | null;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
}

const listed =
  sql.raw(`e.id, e.agent_id, e.agent_name, e.status::text as status, e.source::text as source,
  e.executed_at, e.executed_by, e.api_key_id, e.model, e.temperature, e.prompt_version_id,
  e.prompt_version_label, e.input_variables, e.completed_at, e.latency_ms, e.input_tokens, e.output_tokens,
  e.cost_usd, e.cost_known, e.finish_reason, e.error_code, e.error, e.output`);
// What a run is up to stands in the queue until it ends.
const progress = sql.raw(`coalesce(e.started_at, q.started_at) as started_at,
  case when q.id is null then e.attempts::int
    else q.failures + q.losses + (q.worker is not null)::int end as attempts`);

/** One execution of that agent; null where there is none. */
export async function findExecution(
  db: Db,
  agentId: string,
  executionId: string,
): Promise<ExecutionDetailRow | null> {
  const { rows } = await sql<ExecutionDetailRow>`
    select ${listed}, ${progress}, e.system_prompt, e.user_prompt, e.ip_address, e.user_agent
    from executions e left join run_queue q on q.id = e.id
    where e.id = ${executionId} and e.agent_id = ${agentId}`.execute(db);
  return rows[0] ?? null;
}

export interface ListQuestion {
  readonly agentId: string;
  readonly status: EndStatus | null;
  readonly source: Source | null;
  /** Inclusive, in milliseconds. */
  readonly startMs: number | null;
  readonly endMs: number | null;
  readonly includeProcessing: boolean;
  readonly limit: number;
  readonly offset: number;
  /** Only what comes after this execution in the order of the list. */
  readonly after: string | null;
}

/** A page, newest first, and the number of all that match, both from one snapshot. */
export async function listExecutions(
  db: Db,
  question: ListQuestion,
): Promise<{ rows: ExecutionRow[]; total: number }> {
  const { agentId, status, source, startMs, endMs, after } = question;
  const matching = sql`e.agent_id = ${agentId}
    ${status === null ? sql`` : sql`and e.status = ${status}::execution_status`}
    ${question.includeProcessing ? sql`` : sql`and e.status <> 'processing'`}
    ${source === null ? sql`` : sql`and e.source = ${source}::execution_source`}
    ${startMs === null ? sql`` : sql`and e.id >= ${uuidFloor(startMs)}`}
    ${endMs === null ? sql`` : sql`and e.id < ${uuidFloor(endMs + 1)}`}`;
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      const { rows: totals } = await sql<{ total: number }>`
        select count(*) as total from executions e where ${matching}`.execute(trx);
      const { rows } = await sql<ExecutionRow>`
        select ${listed}, ${progress}
        from executions e left join run_queue q on q.id = e.id
        where ${matching} ${after === null ? sql`` : sql`and e.id < ${after}`}
        order by e.id desc limit ${question.limit} offset ${question.offset}`.execute(trx);
      return { rows, total: totals[0]?.total ?? 0 };
    });
}

/** Those of these executions whose run has ended. */
export async function findEnded(db: Db, executionIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select asked.id::text as id from unnest(${executionIds}::uuid[]) as asked (id)
    where not exists (select from run_queue q where q.id = asked.id)`.execute(db);
  return rows.map((row) => row.id);
}

/** The agent of an unfinished run where that agent hands out slots; undefined where the run has ended. */
export async function findSlotAgent(
  db: Db,
  executionId: string,
): Promise<string | null | undefined> {
  const { rows } = await sql<{ slotAgentId: string | null }>`
    select case when holds_slot is null then null else agent_id end as slot_agent_id
    from run_queue where id = ${executionId}`.execute(db);
  return rows[0]?.slotAgentId;
}
