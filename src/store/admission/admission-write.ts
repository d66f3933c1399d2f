import type { ExecutionSettings, WorkflowStepOf } from '../../core/agent/model-settings.ts';
import type { EndStatus, ExecutionStatus, Source } from '../../core/execution/execution.ts';
import type { Labels } from '../../core/execution/labels.ts';
import type { Counts } from '../../core/execution/limits.ts';
import type { ExecutionErrorCode } from '../../core/failure.ts';
import type { Tally } from '../../core/history/statistics.ts';
import type { Send, Statement, Value } from '../connection/pipeline.ts';
import { columnsOf, commit } from '../connection/statements.ts';
import { textArray } from '../connection/text-array.ts';
import { addStatistics } from '../history/statistics.ts';
import { markCalled } from '../workflow/workflow-steps.ts';

/** The second of admission's two batches: it writes and commits (see `admission-read.ts`). */

export interface AdmissionWrites {
  readonly counts: ReadonlyMap<string, Counts>;
  readonly months: readonly { workspaceId: string; month: number; used: number }[];
  /** The time of acceptance or refusal of the whole batch. */
  readonly executedAtMs: number;
  /** The worker that claims accepted executions at once. */
  readonly worker: string | null;
  readonly executions: readonly NewExecution[];
  readonly idempotency: readonly NewIdempotency[];
  readonly refusals: readonly NewRefusal[];
  readonly tallies: readonly Tally[];
}

/** The fields that all records of one caller and agent have in common. */
export interface ExecutionTerms {
  readonly workspaceId: string;
  readonly agentId: string;
  readonly promptVersionId: string;
  readonly apiKeyId: string | null;
  readonly executedBy: string | null;
  /** `processing` with settings, or the status of a refusal with an error. */
  readonly status: ExecutionStatus;
  readonly source: Source;
  readonly agentName: string;
  readonly promptVersionLabel: string;
  readonly model: string;
  readonly temperature: number | null;
  readonly errorCode: ExecutionErrorCode | null;
  readonly error: string | null;
  readonly settings: ExecutionSettings | null;
}

/** A new record, and the queue row of an accepted execution. */
export interface NewExecution {
  readonly id: string;
  /** The same object for all records with equal terms, which are sent once. */
  readonly terms: ExecutionTerms;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
  /** With references instead of data URLs. */
  readonly inputVariables: string | null;
  /** What the record keeps of images and files, as JSON; null without any. */
  readonly files: string | null;
  /** The data URLs by reference, as JSON; null without any. */
  readonly fileData: string | null;
  readonly labels: Labels | null;
  /** Null for a refusal. */
  readonly queued: NewQueuedExecution | null;
  /** The step of a workflow run that it belongs to. */
  readonly step: WorkflowStepOf | null;
}

export interface NewQueuedExecution {
  readonly tag: number;
  /** Whether the accepting worker claims it at once. */
  readonly claimed: boolean;
  readonly hasSlot: boolean | null;
}

export interface NewIdempotency {
  readonly caller: string;
  readonly agentId: string;
  readonly key: string;
  readonly digest: Buffer;
  readonly executionId: string;
  readonly agentName: string;
  readonly ignoredVariables: readonly string[];
  readonly createdAtMs: number;
}

/** How many refusals of this caller, agent and status were recorded in this hour. */
export interface NewRefusal {
  readonly caller: string;
  readonly agentId: string;
  readonly status: EndStatus;
  readonly hour: number;
  readonly recorded: number;
}

export async function writeAdmission(send: Send, writes: AdmissionWrites): Promise<void> {
  const sent = sendWrites(send, writes);
  sent.push(send(commit));
  await Promise.all(sent);
}

/** Sends the writes of a batch without its commit. */
export function sendWrites(send: Send, writes: AdmissionWrites): Promise<unknown>[] {
  const { counts, months, executions, idempotency, refusals } = writes;
  const sent: Promise<unknown>[] = [];
  if (counts.size + months.length > 0) sent.push(updateCounts(send, counts, months));
  if (executions.length > 0) sent.push(send(insertExecutions, executionValues(writes)));
  const called = executions.flatMap(({ id, queued, step }) =>
    queued && step ? { ...step, executionId: id } : [],
  );
  if (called.length > 0) sent.push(markCalled(send, called));
  if (idempotency.length > 0) sent.push(send(insertIdempotency, idempotencyValues(idempotency)));
  if (refusals.length > 0)
    sent.push(
      send(
        upsertRefusals,
        columnsOf(refusals, ['caller', 'agentId', 'status', 'hour', 'recorded']),
      ),
    );
  sent.push(addStatistics(send, writes.tallies));
  return sent;
}

/** Writes counts that were read under their lock: those of keys and agents, and the months of workspaces. */
export function updateCounts(
  send: Send,
  counts: ReadonlyMap<string, Counts>,
  months: AdmissionWrites['months'] = [],
): Promise<unknown> {
  return send(updateCountRows, countValues(counts, months));
}

const updateCountRows: Statement = {
  name: 'admission-update-counts',
  text: `update limits l set minute = coalesce(c.minute, l.minute), minute_used = coalesce(c.minute_used, l.minute_used),
      hour = coalesce(c.hour, l.hour), hour_used = coalesce(c.hour_used, l.hour_used),
      day = coalesce(c.day, l.day), day_used = coalesce(c.day_used, l.day_used),
      month = coalesce(c.month, l.month), month_used = coalesce(c.month_used, l.month_used)
    from unnest($1::uuid[], $2::bigint[], $3::int[], $4::bigint[], $5::int[], $6::bigint[], $7::int[], $8::int[],
        $9::bigint[])
      as c (subject, minute, minute_used, hour, hour_used, day, day_used, month, month_used)
    where l.subject = c.subject`,
};

/** A subject is either in `counts` or in `months`. Nulls leave the columns of the other unchanged. */
function countValues(
  counts: ReadonlyMap<string, Counts>,
  months: AdmissionWrites['months'],
): Value[] {
  const rows = [...counts.values()];
  const none = months.map(() => null);
  const noMonth = rows.map(() => null);
  return [
    [...counts.keys(), ...months.map((month) => month.workspaceId)],
    [...rows.map((row) => row.minute), ...none],
    [...rows.map((row) => row.minuteUsed), ...none],
    [...rows.map((row) => row.hour), ...none],
    [...rows.map((row) => row.hourUsed), ...none],
    [...rows.map((row) => row.day), ...none],
    [...rows.map((row) => row.dayUsed), ...none],
    [...noMonth, ...months.map((month) => month.month)],
    [...noMonth, ...months.map((month) => month.used)],
  ];
}

// Terms are sent once for all records that share them: parsing the parameters is half the cost of an insert.
const insertExecutions: Statement = {
  name: 'admission-insert-executions',
  text: `with accepted as materialized (
      select e.*, t.*, $1::timestamptz as executed_at,
        case when e.claimed then $2::uuid end as worker, case when e.claimed then clock_timestamp() end as started_at
      from unnest($3::uuid[], $4::int[], $5::text[], $6::text[], $7::json[], $8::bigint[], $9::bool[], $10::bool[],
        $25::uuid[], $26::text[], $27::int[], $28::text[], $29::text[], $30::text[], $31::json[], $32::json[],
        $33::json[])
        as e (id, terms, ip_address, user_agent, input_variables, tag, claimed, has_slot, workflow_run_id, step_name,
          item, end_user, session, tags, metadata, files, file_data)
      join unnest($11::uuid[], $12::uuid[], $13::uuid[], $14::uuid[], $15::uuid[], $16::execution_status[],
        $17::execution_source[], $18::text[], $19::text[], $20::text[], $21::float8[], $22::text[], $23::text[],
        $24::json[]) with ordinality
        as t (workspace_id, agent_id, prompt_version_id, api_key_id, executed_by, status, source, agent_name,
          prompt_version_label, model, temperature, error_code, error, settings, ordinal) on t.ordinal = e.terms),
    queued as (
      insert into execution_queue (id, workspace_id, agent_id, tag, worker, has_slot, attempt, started_at)
      select id, workspace_id, agent_id, tag, worker, has_slot, claimed::int, started_at
      from accepted where tag is not null)
    insert into executions (id, workspace_id, agent_id, prompt_version_id, api_key_id, executed_by,
      executed_at, completed_at, status, source, agent_name, prompt_version_label, model, temperature,
      error_code, error, ip_address, user_agent, input_variables, settings, workflow_run_id, step_name,
      end_user, session, tags, metadata, files, file_data)
    select id, workspace_id, agent_id, prompt_version_id, api_key_id, executed_by,
      executed_at, case when status = 'processing' then null else executed_at end, status, source, agent_name,
      prompt_version_label, model, temperature, error_code, error, ip_address, user_agent,
      input_variables,
      case when item is null or settings is null then settings else (left(settings::text, -1) || ',"workflow":' ||
        json_build_object('runId', workflow_run_id, 'step', step_name, 'item', item)::text || '}')::json end,
      workflow_run_id, step_name, end_user, session, tags::text[], metadata, files, file_data
    from accepted`,
};

function executionValues({ executions, executedAtMs, worker }: AdmissionWrites): Value[] {
  const indexes = new Map<ExecutionTerms, number>();
  for (const { terms } of executions) {
    if (!indexes.has(terms)) indexes.set(terms, indexes.size + 1);
  }
  const terms = [...indexes.keys()];
  return [
    new Date(executedAtMs).toISOString(),
    worker,
    ...columnsOf(executions, ['id']),
    executions.map((one) => indexes.get(one.terms)),
    ...columnsOf(executions, ['ipAddress', 'userAgent', 'inputVariables']),
    executions.map((one) => one.queued?.tag),
    executions.map((one) => one.queued?.claimed ?? false),
    executions.map((one) => one.queued?.hasSlot),
    ...columnsOf(
      terms,
      ['workspaceId', 'agentId', 'promptVersionId', 'apiKeyId', 'executedBy', 'status'],
      ['source', 'agentName', 'promptVersionLabel', 'model', 'temperature', 'errorCode', 'error'],
    ),
    terms.map((one) => one.settings && JSON.stringify(one.settings)),
    executions.map((one) => one.step?.runId),
    executions.map((one) => one.step?.step),
    executions.map((one) => one.step?.item),
    ...labelValues(executions.map((one) => one.labels)),
    ...fileValues(executions),
  ];
}

/** Nulls instead of lists if no execution has labels: PostgreSQL pads them, so they cost nothing. */
function labelValues(all: readonly (Labels | null)[]): Value[] {
  if (all.every((labels) => labels === null)) return [null, null, null, null];
  return [
    all.map((labels) => labels?.user),
    all.map((labels) => labels?.session),
    all.map((labels) => labels?.tags && textArray(labels.tags)),
    all.map((labels) => labels?.metadata),
  ];
}

/** Likewise. */
function fileValues(executions: readonly NewExecution[]): Value[] {
  if (executions.every(({ files }) => files === null)) return [null, null];
  return columnsOf(executions, ['files', 'fileData']);
}

// Overwrites expired rows. The lock of the limits guarantees that there is no unexpired row.
const insertIdempotency: Statement = {
  name: 'admission-insert-idempotency',
  text: `insert into idempotency as i (caller, agent_id, key, digest, execution_id, agent_name,
      ignored_variables, created_at)
    select caller, agent_id, key, digest, execution_id, agent_name, ignored_variables::text[], created_at
    from unnest($1::uuid[], $2::uuid[], $3::text[], $4::bytea[], $5::uuid[], $6::text[], $7::text[],
      $8::timestamptz[])
      as n (caller, agent_id, key, digest, execution_id, agent_name, ignored_variables, created_at)
    on conflict (caller, agent_id, key) do update set digest = excluded.digest,
      execution_id = excluded.execution_id, agent_name = excluded.agent_name,
      ignored_variables = excluded.ignored_variables, created_at = excluded.created_at`,
};

function idempotencyValues(rows: readonly NewIdempotency[]): Value[] {
  return [
    ...columnsOf(rows, ['caller', 'agentId', 'key', 'digest', 'executionId', 'agentName']),
    rows.map((row) => textArray(row.ignoredVariables)),
    rows.map((row) => new Date(row.createdAtMs).toISOString()),
  ];
}

const upsertRefusals: Statement = {
  name: 'admission-upsert-refusals',
  text: `insert into refusals as r (caller, agent_id, status, hour, recorded)
    select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::bigint[], $5::int[])
    on conflict (caller, agent_id, status) do update set hour = excluded.hour, recorded = excluded.recorded`,
};
