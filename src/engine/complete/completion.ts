import type { NewEvent } from '../../core/event/event.ts';
import type { EndedExecution } from '../../core/execution/ended-execution.ts';
import {
  type ExecutionTerms,
  type OutcomeColumns,
  type StoredField,
  storedFields,
} from '../../core/execution/execution-fields.ts';
import type { ExecutionErrorCode } from '../../core/failure.ts';
import type { Tally } from '../../core/history/statistics.ts';
import type { Send } from '../../db/pipeline.ts';
import { rowSet } from '../../db/row-set.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { statement } from '../../db/statement.ts';
import { changeLines, type LineChanges } from '../advance/batch-lines.ts';
import { type ProgressWrites, type Stopping, writeProgress } from '../advance/workflow-progress.ts';
import {
  columnName,
  namesOf,
  parametersOf,
  type Reads,
  storedValue,
  suppliedBy,
} from '../fields/field-columns.ts';
import {
  type AdmittedCall,
  admittedNames,
  admittedTable,
  admittedValues,
  type NumberedTerms,
  numberTerms,
} from '../fields/terms.ts';
import { insertKeptMessages } from './assistant-messages.ts';
import { sendEvents } from './events.ts';
import { hasSearchedText } from './search-changes.ts';
import { type SettledCall, settleCalls } from './settlements.ts';
import { addStatistics } from './statistics-buckets.ts';

/**
 * The only place where something becomes final. Every transaction that ends executions, refuses calls, or ends workflow
 * runs passes everything that it makes final to `writeCompletion` and then commits.
 *
 *     live row of `execution_queue` ──end──▶ record       one statement deletes the row and inserts the record
 *     refused call ─────────────────────────▶ record
 *     step, workflow run ───────────────────▶ ended, and the steps that follow
 *     line of a batch, batch ───────────────▶ ended
 *
 * Invariants
 * - Record, freed slots, workflow progress, statistics and outbound events commit together or not at all. A crash between any two
 *   statements leaves the live row as it was.
 * - Only these statements insert records. A record is never updated, except for removing its bodies.
 * - The contents of an execution do not travel twice: the record takes them from the deleted row.
 * - A record without bodies contains none from the start. Its output is in `transient_outputs` for a while.
 * - Statistics are the last locks, and then the counters of events.
 */
export interface Completion {
  /** Live executions. The transaction holds the locks of their queue rows. */
  readonly ended?: readonly EndedExecution[];
  /** Agents whose slots may have become free. The transaction holds their locks. */
  readonly slotAgentIds?: readonly string[];
  /** Workers that must abort an execution. */
  readonly cancellations?: readonly Cancellation[];
  /** Workflow runs with an ended step whose agent stores no bodies. */
  readonly transientRunIds?: readonly string[];
  readonly refused?: readonly RefusedExecution[];
  /** The time of these refusals. */
  readonly refusedAtMs?: number;
  /** Calls whose reservations end. */
  readonly settled?: readonly SettledCall[];
  /** How workflow runs advance. The transaction holds their locks. */
  readonly progress?: ProgressWrites | null;
  /** How lines of batches end. The transaction holds the locks of their batches. */
  readonly lines?: LineChanges | null;
  /** What the statistics add for these ends and refusals. */
  readonly tallies?: readonly Tally[];
  /** Outbound events of these ends and refusals. Those of workflow runs are in `progress`. */
  readonly events?: readonly NewEvent[];
}

interface Cancellation {
  readonly executionId: string;
  readonly worker: string;
}

export interface Completed {
  /** The executions of ended workflow runs, which the caller has to stop after the commit. */
  readonly stopping: Stopping[];
  /** Whether outbound events must be sent. */
  readonly eventsQueued: boolean;
}

/** A refused call that becomes a record. */
export type RefusedExecution = AdmittedCall<RefusalTerms>;

export interface RefusalTerms extends ExecutionTerms, Pick<OutcomeColumns, 'status'> {
  readonly errorCode: ExecutionErrorCode;
  readonly error: string;
}

/** Writes everything that becomes final, in the caller's transaction. */
export async function writeCompletion(send: Send, completion: Completion): Promise<Completed> {
  const { ended = [], refused = [], slotAgentIds = [], cancellations = [] } = completion;
  const { transientRunIds = [], progress, lines, refusedAtMs = 0, tallies = [] } = completion;
  const { events = [], settled = [] } = completion;
  const transient = ended.filter(
    (one) => !one.storeBodies && (one.output ?? one.refusalText) !== null,
  );
  const sent: Promise<unknown>[] = [];
  if (ended.length > 0) sent.push(send(moveToHistory, ended));
  if (transient.length > 0) sent.push(send(insertTransient, transient));
  const answered = ended.filter(({ lastTurn }) => lastTurn !== null);
  if (answered.length > 0) sent.push(send(insertLastTurns, answered));
  const kept = ended.flatMap(keptMessage);
  if (kept.length > 0) sent.push(send(insertKeptMessages, kept));
  if (refused.length > 0) {
    const numbered = numberTerms<RefusalTerms, RefusedExecution>(refused);
    sent.push(send(insertRefusals, { ...numbered, atMs: refusedAtMs }));
  }
  if (settled.length > 0) sent.push(settleCalls(send, settled));
  if (slotAgentIds.length > 0) sent.push(send(grantFreeSlots, slotAgentIds));
  if (cancellations.length > 0) sent.push(send(insertCancellations, cancellations));
  if (transientRunIds.length > 0) sent.push(send(markTransientWorkflowRuns, transientRunIds));
  const progressed = progress ? writeProgress(send, progress) : [];
  if (lines) sent.push(...changeLines(send, lines));
  sent.push(addStatistics(send, tallies));
  // Last, because the counter of a workspace stays locked until the commit.
  const runEvents = progress?.ends.flatMap(({ event }) => event ?? []) ?? [];
  const written = sendEvents(send, [...events, ...runEvents]);
  const [stopping, eventsQueued] = await Promise.all([progressed, written, ...sent]);
  return { stopping, eventsQueued };
}

/** By which the next turn finds the message that the record keeps. */
function keptMessage({ id, assistantMessage, messageDigest: digest }: EndedExecution) {
  if (assistantMessage === null || digest === null) return [];
  return [{ executionId: id, digest, chars: assistantMessage.length }];
}

/** SQL: the only insertion of records; the last part of a `with` statement. Those with texts wait for the search index. */
function insertRecords(columns: Sql, values: Sql): Sql {
  return sql`written as (
      insert into executions (${columns}) select ${values}
      returning id, ${hasSearchedText} as searchable)
    insert into search_changes (id) select id from written where searchable`;
}

const outcomeFields = storedFields.filter(({ from, restated }) => from === 'outcome' || restated);
const liveFields = suppliedBy('terms', 'request', 'input', 'queue').filter(
  ({ restated }) => !restated,
);

/** Only a record that keeps its bodies gets them. */
const bodiesIfStored: Reads<EndedExecution> = Object.fromEntries(
  outcomeFields
    .filter(({ body }) => body)
    .map(({ row: name }) => {
      const body = name as keyof EndedExecution;
      return [body, (one: EndedExecution) => (one.storeBodies ? one[body] : null)];
    }),
);

const ends = rowSet<EndedExecution>('f', {
  ...parametersOf(outcomeFields, bodiesIfStored),
  id: ['uuid', (one) => one.id],
  completed_ms: ['float8', (one) => one.completedMs],
  stores_bodies: ['bool', (one) => one.storeBodies],
});

/** SQL: a column of the record from the live row. */
function fromLive(field: StoredField): Sql {
  const name = sql.ref(columnName(field));
  return field.body ? sql`case when f.stores_bodies then q.${name} end as ${name}` : sql`q.${name}`;
}

const fromEnd = (field: StoredField) =>
  sql`${storedValue(field, 'f')} as ${sql.ref(columnName(field))}`;

const endedNames = sql`${namesOf([...liveFields, ...outcomeFields])}, completed_at`;

// Deletes by the list of ids: PostgreSQL overestimates the rows of a join and would read the whole queue.
const moveToHistory = statement<readonly EndedExecution[]>('completion-move-to-history')`
  with ended as (
    delete from execution_queue q using ${ends.table}
    where q.id = f.id and q.id = any(${ends.array('id')})
    returning ${sql.join(liveFields.map(fromLive))}, ${sql.join(outcomeFields.map(fromEnd))},
      to_timestamp(f.completed_ms / 1000) as completed_at),
  ${insertRecords(endedNames, sql`${endedNames} from ended`)}`;

const lastTurns = rowSet<EndedExecution>('l', {
  execution_id: ['uuid', (one) => one.id],
  n: ['smallint', (one) => one.turns],
  model: ['text', (one) => one.lastTurn?.model],
  latency_ms: ['int', (one) => one.lastTurn?.latencyMs],
  input_tokens: ['int', (one) => one.lastTurn?.inputTokens],
  output_tokens: ['int', (one) => one.lastTurn?.outputTokens],
  cost_usd: ['numeric', (one) => one.lastTurn?.costUSD],
  cost_known: ['bool', (one) => one.lastTurn?.costKnown],
  completed_ms: ['float8', (one) => one.completedMs],
});

// The record has its text.
const insertLastTurns = statement<readonly EndedExecution[]>('completion-insert-last-turns')`
  insert into execution_steps (execution_id, n, part, state, model, latency_ms, input_tokens, output_tokens, cost_usd,
    cost_known, ended_at)
  select l.execution_id, l.n, 0, 'done', l.model, l.latency_ms, l.input_tokens, l.output_tokens, l.cost_usd,
    l.cost_known, to_timestamp(l.completed_ms / 1000)
  from ${lastTurns.table}`;

const outputFields = outcomeFields.filter(({ transient }) => transient);
const transientOutputs = rowSet<EndedExecution>('o', {
  execution_id: ['uuid', (one) => one.id],
  ...parametersOf<EndedExecution>(outputFields),
});

const insertTransient = statement<readonly EndedExecution[]>('completion-insert-transient-outputs')`
  insert into transient_outputs (execution_id, ${namesOf(outputFields)}, ended_at)
  select o.*, clock_timestamp() from ${transientOutputs.table}`;

type Refusals = NumberedTerms<RefusalTerms, RefusedExecution> & { readonly atMs: number };

const refusals = admittedTable<RefusalTerms, RefusedExecution>({
  status: ['execution_status', (one) => one.status],
  error_code: ['text', (one) => one.errorCode],
  error: ['text', (one) => one.error],
});
const refusedAt = ({ atMs }: Refusals) => new Date(atMs).toISOString();

const insertRefusals = statement<Refusals>('completion-insert-refusals')`
  with ${insertRecords(
    sql`${admittedNames}, executed_at, completed_at, status, error_code, error`,
    sql`${admittedValues}, ${refusedAt}::timestamptz, ${refusedAt}::timestamptz, status, error_code, error from ${refusals}`,
  )}`;

/**
 * Grants the free slots of these agents to the executions that have waited longest; needs the agents' locks. It updates by
 * key: PostgreSQL overestimates the rows of a join and would read all waiting executions for each slot.
 */
export const grantFreeSlots = statement<readonly string[]>('completion-grant-free-slots')`
  update execution_queue q set has_slot = true, available_at = clock_timestamp()
  where q.id = any(array(
    select waiting.id from agents a cross join lateral (
      select w.id from execution_queue w where w.agent_id = a.id and w.has_slot = false
      order by w.id
      limit greatest(0, coalesce((a.config ->> 'maxConcurrency')::int, 2147483647) -
        (select count(*) from execution_queue h where h.agent_id = a.id and h.has_slot))) as waiting
    where a.id = any(${(agentIds) => agentIds}::uuid[])))`;

const canceled = rowSet<Cancellation>('c', {
  execution_id: ['uuid', (one) => one.executionId],
  worker: ['uuid', (one) => one.worker],
});

const insertCancellations = statement<readonly Cancellation[]>('completion-insert-cancellations')`
  insert into cancellations (execution_id, worker)
  select c.execution_id, c.worker from ${canceled.table}
  join workers w on w.id = c.worker
  on conflict do nothing`;

// Such a run must not keep bodies for longer than necessary. The run is locked already. This precedes the end of the run,
// unless the run ended when the step was stopped.
const markTransientWorkflowRuns = statement<readonly string[]>('completion-mark-transient-runs')`
  update workflow_runs set bodies = 'transient', input = case when status = 'processing' then input end
  where id = any(${(ids) => ids}::uuid[]) and bodies = 'stored'`;
