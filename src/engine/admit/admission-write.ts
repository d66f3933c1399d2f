import type { Counts } from '../../core/agent/limits.ts';
import type { ExecutionSettings } from '../../core/agent/model-settings.ts';
import type { Reservation } from '../../core/budget/budget.ts';
import type { NewEvent } from '../../core/event/event.ts';
import type { QuotaReport } from '../../core/event/quota-event.ts';
import type { EndStatus } from '../../core/execution/execution.ts';
import type {
  ExecutionTerms,
  InputColumns,
  StoredField,
} from '../../core/execution/execution-fields.ts';
import type { Tally } from '../../core/history/statistics.ts';
import type { Send } from '../../db/pipeline.ts';
import { rowSet } from '../../db/row-set.ts';
import { sql } from '../../db/sql.ts';
import { statement } from '../../db/statement.ts';
import { commit } from '../../db/statements.ts';
import type { LineChanges } from '../advance/batch-lines.ts';
import { markCalled } from '../advance/workflow-steps.ts';
import { type BudgetWrites, sendBudgetWrites } from '../budgets/budget-windows.ts';
import { type Completed, type RefusedExecution, writeCompletion } from '../complete/completion.ts';
import { namesOf, parametersOf, suppliedBy } from '../fields/field-columns.ts';
import {
  type AdmittedCall,
  admittedNames,
  admittedTable,
  admittedValues,
  type NumberedTerms,
  numberTerms,
} from '../fields/terms.ts';
import { addRefusals, type CountedRefusals } from './counted-refusals.ts';
import { insertFirstCalls, type NewFirstCall } from './idempotency.ts';
import { deleteStaged, type StagedContents } from './stage-contents.ts';

/**
 * The second of admission's two batches: it writes and commits (see `admission-read.ts`). An accepted execution is one row of
 * the queue. A refused call is final, so that it goes through `completion.ts`.
 */

export interface AdmissionWrites {
  readonly counts: ReadonlyMap<string, Counts>;
  readonly months: readonly { workspaceId: string; month: number; used: number }[];
  /** The time of acceptance or refusal of the whole batch. */
  readonly executedAtMs: number;
  /** The worker that claims accepted executions at once. */
  readonly worker: string | null;
  readonly executions: readonly NewExecution[];
  /** Contents of a call that may not have been accepted. */
  readonly staged?: StagedContents | null;
  readonly refused: readonly RefusedExecution[];
  readonly firstCalls: readonly NewFirstCall[];
  readonly refusals: readonly RefusalCount[];
  readonly countedRefusals: readonly CountedRefusals[];
  readonly tallies: readonly Tally[];
  readonly quotaReports: readonly QuotaReport[];
  readonly events: readonly NewEvent[];
  /** How the lines of a batch advance. The transaction holds the lock of the batch. */
  readonly lines?: LineChanges;
  /** Windows of budgets. The transaction holds the limits of their workspaces. */
  readonly budgets?: Omit<BudgetWrites, 'events'>;
}

export interface AcceptedTerms extends ExecutionTerms {
  readonly settings: ExecutionSettings;
}

/** Null if its version executes no tools. */
export function firstTurns({ settings }: AcceptedTerms): 0 | null {
  return settings.tools ? 0 : null;
}

/** An accepted execution. */
export interface NewExecution extends AdmittedCall<AcceptedTerms>, InputColumns {
  readonly queued: NewQueuedExecution;
  /** The bound of its first call of a model, in US dollars; null without a limit of cost. */
  readonly callBoundUsd: string | null;
  /** Of its first call; null if its workspace has no budgets, and its workflow run no limit. */
  readonly reservations?: readonly Reservation[] | null;
  /** Its row, if that has its contents already. */
  readonly staged?: StagedContents | null;
}

export interface NewQueuedExecution {
  readonly tag: number;
  /** Whether the accepting worker claims it at once. */
  readonly claimed: boolean;
  readonly hasSlot: boolean | null;
}

/** How many refusals of this caller, agent and status were recorded in this hour. */
export interface RefusalCount {
  readonly caller: string;
  readonly agentId: string;
  readonly status: EndStatus;
  readonly hour: number;
  readonly recorded: number;
}

/** Returns whether events must be sent to endpoints. */
export async function writeAdmission(send: Send, writes: AdmissionWrites): Promise<boolean> {
  const { sent, completed } = sendWrites(send, writes);
  sent.push(send(commit));
  await Promise.all(sent);
  return (await completed).eventsQueued;
}

/** Sends the writes of a batch without its commit. */
export function sendWrites(
  send: Send,
  writes: AdmissionWrites,
): { readonly sent: Promise<unknown>[]; readonly completed: Promise<Completed> } {
  const { counts, months, executions, refused, firstCalls, refusals } = writes;
  const sent: Promise<unknown>[] = [];
  if (counts.size + months.length > 0) sent.push(updateCounts(send, counts, months));
  sent.push(...sendExecutions(send, writes));
  const called = executions.flatMap(({ id, step }) => (step ? { ...step, executionId: id } : []));
  if (called.length > 0) sent.push(markCalled(send, called));
  sent.push(insertFirstCalls(send, firstCalls));
  if (refusals.length > 0) sent.push(send(upsertRefusals, refusals));
  const { countedRefusals, executedAtMs: atMs } = writes;
  if (countedRefusals.length > 0) sent.push(send(addRefusals, { refusals: countedRefusals, atMs }));
  const { quotaReports, budgets } = writes;
  if (budgets) sent.push(...sendBudgetWrites(send, budgets));
  if (quotaReports.length > 0) sent.push(send(insertQuotaReports, quotaReports));
  const { executedAtMs: refusedAtMs, tallies, events, lines = null } = writes;
  const completed = writeCompletion(send, { refused, refusedAtMs, tallies, events, lines });
  sent.push(completed);
  return { sent, completed };
}

function sendExecutions(send: Send, writes: AdmissionWrites): Promise<unknown>[] {
  const { executions, staged = null } = writes;
  const [first] = executions;
  if (staged && first?.staged === staged) {
    const contents = { inputVariables: '{}', fileData: null };
    const numbered = numberTerms<AcceptedTerms, NewExecution>([{ ...first, ...contents }]);
    return [send(completeStaged, { ...writes, ...numbered, stagedId: staged.id })];
  }
  const numbered = numberTerms<AcceptedTerms, NewExecution>(executions);
  return [
    ...(staged ? [send(deleteStaged, staged)] : []),
    ...(executions.length > 0 ? [send(insertExecutions, { ...writes, ...numbered })] : []),
  ];
}

/** Writes counts that were read under their lock: those of keys and agents, and the months of workspaces. */
export function updateCounts(
  send: Send,
  counts: ReadonlyMap<string, Counts>,
  months: AdmissionWrites['months'] = [],
): Promise<unknown> {
  const ofCalls = [...counts].map(([subject, row]) => ({ subject, ...row }));
  const ofMonths = months.map(({ workspaceId, month, used }) => {
    return { subject: workspaceId, month, monthUsed: used };
  });
  return send(updateCountRows, [...ofCalls, ...ofMonths]);
}

/** A key or agent with its counts, or a workspace with its month. Nulls leave columns unchanged. */
type ChangedCounts = { readonly subject: string } & Partial<Counts> & {
    readonly month?: number;
    readonly monthUsed?: number;
  };

const changed = rowSet<ChangedCounts>('c', {
  subject: ['uuid', (row) => row.subject],
  minute: ['bigint', (row) => row.minute],
  minute_used: ['int', (row) => row.minuteUsed],
  hour: ['bigint', (row) => row.hour],
  hour_used: ['int', (row) => row.hourUsed],
  day: ['bigint', (row) => row.day],
  day_used: ['int', (row) => row.dayUsed],
  month: ['int', (row) => row.month],
  month_used: ['bigint', (row) => row.monthUsed],
});

const updateCountRows = statement<readonly ChangedCounts[]>('admission-update-counts')`
  update limits l set minute = coalesce(c.minute, l.minute), minute_used = coalesce(c.minute_used, l.minute_used),
    hour = coalesce(c.hour, l.hour), hour_used = coalesce(c.hour_used, l.hour_used),
    day = coalesce(c.day, l.day), day_used = coalesce(c.day_used, l.day_used),
    month = coalesce(c.month, l.month), month_used = coalesce(c.month_used, l.month_used)
  from ${changed.table}
  where l.subject = c.subject`;

const inputFields = suppliedBy('input');

const accepted = admittedTable<AcceptedTerms, NewExecution>(
  {
    settings: ['json', (one) => JSON.stringify(one.settings)],
    turns: ['smallint', (one) => firstTurns(one)],
  },
  {
    step_item: ['int', (one) => one.step?.item],
    batch_line: ['int', (one) => one.batchLine?.line],
    ...parametersOf<NewExecution>(inputFields),
    tag: ['bigint', (one) => one.queued.tag],
    has_slot: ['bool', (one) => one.queued.hasSlot],
    claimed: ['bool', (one) => one.queued.claimed],
    call_bound_usd: ['numeric', (one) => one.callBoundUsd],
    reservations: ['jsonb', ({ reservations }) => reservations && JSON.stringify(reservations)],
    reserved_usd: ['numeric', ({ reservations }) => reservations?.[0]?.usd],
  },
);
/** Those that `stageContents` writes. */
const isStaged = ({ row }: StoredField) => row === 'inputVariables' || row === 'fileData';
const contentNames = namesOf(inputFields.filter(isStaged));
const otherInputs = namesOf(inputFields.filter((field) => !isStaged(field)));
const otherNames = sql`step_item, batch_line, ${otherInputs}, settings, turns, tag, has_slot, call_bound_usd, reservations,
  reserved_usd`;

type Accepted = NumberedTerms<AcceptedTerms, NewExecution> &
  Pick<AdmissionWrites, 'executedAtMs' | 'worker'>;

/** SQL: the columns of the queue beside the contents, and their values. */
const queueNames = sql`${admittedNames}, ${otherNames}, executed_at, worker, attempt, started_at,
  overrun_usd`;
const queueValues = sql`${admittedValues}, ${otherNames},
    ${({ executedAtMs }: Accepted) => new Date(executedAtMs).toISOString()}::timestamptz,
    case when claimed then ${({ worker }: Accepted) => worker}::uuid end, claimed::int,
    case when claimed then clock_timestamp() end, reserved_usd * 0`;

const insertExecutions = statement<Accepted>('admission-insert-executions')`
  insert into execution_queue (${queueNames}, ${contentNames})
  select ${queueValues}, ${contentNames}
  from ${accepted}`;

// The contents stay where they are, because the update does not name them.
const completeStaged = statement<Accepted & { readonly stagedId: string }>(
  'admission-complete-staged',
)`
  update execution_queue q set (${queueNames}) = (select ${queueValues} from ${accepted})
  where q.id = ${({ stagedId }) => stagedId}`;

const counted = rowSet<RefusalCount>('r', {
  caller: ['uuid', (one) => one.caller],
  agent_id: ['uuid', (one) => one.agentId],
  status: ['text', (one) => one.status],
  hour: ['bigint', (one) => one.hour],
  recorded: ['int', (one) => one.recorded],
});

const upsertRefusals = statement<readonly RefusalCount[]>('admission-upsert-refusals')`
  insert into refusals as r (caller, agent_id, status, hour, recorded)
  select * from ${counted.table}
  on conflict (caller, agent_id, status) do update set hour = excluded.hour, recorded = excluded.recorded`;

const reports = rowSet<QuotaReport>('g', {
  workspace_id: ['uuid', (one) => one.workspaceId],
  month: ['int', (one) => one.month],
  percent: ['int', (one) => one.percent],
});

// Those of earlier months are needed no longer.
const insertQuotaReports = statement<readonly QuotaReport[]>('admission-insert-quota-reports')`
  with given as materialized (select * from ${reports.table}),
  earlier as (
    delete from quota_reports r using given g where r.workspace_id = g.workspace_id and r.month < g.month)
  insert into quota_reports (workspace_id, month, percent)
  select workspace_id, month, percent from given on conflict do nothing`;
