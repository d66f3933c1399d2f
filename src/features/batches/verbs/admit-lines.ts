import type { RateLimits } from '../../../core/agent/limits.ts';
import type { Template } from '../../../core/agent/prompt.ts';
import { sizeOfTemplate, type TemplateSize } from '../../../core/agent/prompt-size.ts';
import { readVariables } from '../../../core/agent/variables.ts';
import {
  type BatchCancelReason,
  type BatchLineOf,
  canceledText,
  type WaitReason,
} from '../../../core/batch/batch.ts';
import {
  changedCounts,
  endEvents,
  type LineChange,
  type LockedBatch,
} from '../../../core/batch/line-changes.ts';
import type { Refusal, RefusedByBudget } from '../../../core/execution/check-call.ts';
import { decide, type ExecuteCall, rememberCounts } from '../../../core/execution/decide.ts';
import type { Slots } from '../../../core/execution/queued-execution.ts';
import type { TagBound } from '../../../core/execution/tag-bound.ts';
import { storedLabels } from '../../../core/labels.ts';
import type { PriceLookup } from '../../../core/model/call-bound.ts';
import { type Caller, sessionCaller } from '../../../core/people/caller.ts';
import type { Notifications } from '../../../db/notifications.ts';
import type { Pipelines, Send } from '../../../db/pipeline.ts';
import { commit } from '../../../db/statements.ts';
import { AdmissionBatch, clockTag } from '../../../engine/admit/admission-batch.ts';
import { readBudgetWindows } from '../../../engine/admit/admission-budgets.ts';
import { lookupOf } from '../../../engine/admit/admission-mapping.ts';
import { readBatchAgent, readForAdmission } from '../../../engine/admit/admission-read.ts';
import { writeAdmission } from '../../../engine/admit/admission-write.ts';
import { usualTransactionMs } from '../../../engine/admit/admit.ts';
import {
  cancelWaitingLines,
  lockBatches,
  readWaitingLines,
  type WaitingLine,
} from '../../../engine/advance/batch-lines.ts';
import type { DueBatch } from '../statements/due-batches.ts';

/**
 * Admits the next lines of a batch: one transaction like that of other calls (`admit.ts`), which picks the lines itself, under
 * the locks of the limits and of the batch.
 *
 * Outcomes of a line: it starts in a free slot of this process, or it is refused, or it keeps waiting. A line that waits spends
 * nothing and leaves no record. If the key or user of the batch may not call the agent any more, all waiting lines are canceled.
 *
 * Invariants
 * - A line never waits in the queue of executions, so calls that arrive later precede it.
 * - It acts with the permissions that the key or user has now, and with the version pinned at the upload.
 *
 * Failure cases
 * - The transaction fails: nothing is admitted, the slots are free again, and the lines keep waiting.
 * - The response of the commit is lost: the lines have started. The worker finds them like claims whose response was lost.
 * - The process dies after the commit: its executions are recovered when its lease expires.
 */
export interface AdmitLinesDeps {
  readonly pipelines: Pipelines;
  readonly prices: PriceLookup;
  readonly template: (promptVersionId: string) => Promise<Template>;
  readonly testingLimits: RateLimits;
  readonly slots: Slots;
  readonly bound: TagBound;
  readonly notifications: Pick<Notifications, 'publish'>;
}

export interface AdmittedLines {
  /** Lines that do not wait any more. */
  readonly advanced: number;
  /** Those of them that became executions. */
  readonly started: number;
  /** Whether more lines may start as soon as a slot is free. */
  readonly hasMore: boolean;
}

/** Lines are read while rows are locked. A single one may be longer. */
const lineBytesMax = 262_144;
/** The limits and permissions of a waiting batch are checked again after this time. */
const waitMs = 1_000;

export async function admitLines(
  deps: AdmitLinesDeps,
  due: DueBatch,
  limit: number,
): Promise<AdmittedLines> {
  const { limitedVersionId: id } = due;
  // Before anything is locked.
  const lineTemplate = id === null ? null : sizeOfTemplate(await deps.template(id));
  return deps.pipelines.use((send) => transact({ ...deps, lineTemplate }, send, due, limit));
}

async function transact(
  deps: AdmitLinesDeps & { readonly lineTemplate: TemplateSize | null },
  send: Send,
  due: DueBatch,
  limit: number,
): Promise<AdmittedLines> {
  const { slots, bound, notifications } = deps;
  const worker = slots.lease();
  const call = callOf(due);
  const sentAt = performance.now();
  const claim = { worker, fromTag: bound.over(usualTransactionMs, sentAt) };
  const [read, [batch], agents, waiting] = await Promise.all([
    readForAdmission(send, lookupOf([call], claim)),
    lockBatches(send, [due.id]),
    send(readBatchAgent, due.id),
    readWaitingLines(send, due.id, { limit, bytesMax: lineBytesMax }),
  ]);
  bound.observe(read.floor ?? clockTag(read.nowMs), sentAt);
  if (batch?.status !== 'processing' || waiting.length === 0) {
    await send(commit);
    return { advanced: 0, started: 0, hasMore: false };
  }
  const state = { ...read, agents };
  const admission = new AdmissionBatch(state, { ...deps, worker });
  const calls = waiting.map((line) => callOfLine(due, call, line));
  await readBudgetWindows(send, admission, calls);
  try {
    const plan = planLines(admission, due, call, calls);
    const hasEvents = await write(send, admission, batch, {
      ...{ plan, waiting, nowMs: state.nowMs },
    });
    if (hasEvents) notifications.publish('cueline_event_queued');
    for (const execution of admission.bornClaimed) slots.start(execution);
    const { lines, stop } = plan;
    return {
      advanced: lines.length,
      started: admission.bornClaimed.length,
      hasMore: stop === null || stop.kind === 'full',
    };
  } catch (error) {
    // Those that were committed nevertheless are found by the worker, like claims whose response was lost.
    for (const execution of admission.bornClaimed) slots.release(execution);
    throw error;
  }
}

/** What all lines have in common. */
function callOf(due: DueBatch): ExecuteCall {
  const { workspaceId, agentId, keyHash, apiKeyId, executedBy, ipAddress, userAgent } = due;
  const user = { workspaceId, userId: executedBy ?? nobody, role: 'viewer' } as const;
  return {
    credential:
      apiKeyId === null
        ? { kind: 'session', caller: sessionCaller(user) }
        : { kind: 'key', hash: keyHash ?? unknownHash },
    agentId,
    body: { kind: 'absent', message: '' },
    ...{ idempotencyKey: null, idempotencyProblem: null, ipAddress, userAgent },
  };
}

function callOfLine(
  { id: batchId }: DueBatch,
  call: ExecuteCall,
  { line, variables, labels }: WaitingLine,
): LineCall {
  // The upload has counted them; an earlier version accepted lines with more than this one.
  const body = readVariables(variables, storedLabels(labels), Number.POSITIVE_INFINITY);
  return { ...call, body, batchLine: { batchId, line } };
}

type LineCall = ExecuteCall & { readonly batchLine: BatchLineOf };

const nobody = '00000000-0000-0000-0000-000000000000';
const unknownHash = '00';

interface LinePlan {
  readonly lines: readonly LineChange[];
  /** Why the lines after these do not start now; null if none is left. */
  readonly stop: Stop | null;
}

type Stop =
  /** Of slots, or of the agent's `maxConcurrency`, or because calls wait. */
  | { readonly kind: 'full' }
  | { readonly kind: 'wait'; readonly reason: WaitReason }
  | { readonly kind: 'cancel'; readonly reason: BatchCancelReason };

function planLines(
  admission: AdmissionBatch,
  { id: batchId }: DueBatch,
  call: ExecuteCall,
  lineCalls: readonly LineCall[],
): LinePlan {
  const lines: LineChange[] = [];
  const cancel = (reason: BatchCancelReason): LinePlan => {
    return { lines, stop: { kind: 'cancel', reason } };
  };
  const caller = admission.callerOf(call.credential);
  if (!caller) return cancel(call.credential.kind === 'key' ? 'key_ended' : 'permission_lost');
  const agent = admission.agentOf(call, caller);
  if (!agent) return cancel('agent_deleted');
  // A session may call inactive agents, but a batch belongs to the API.
  const asKey: Caller = { ...caller, kind: 'key' };
  for (const lineCall of lineCalls) {
    const { line } = lineCall.batchLine;
    const facts = admission.facts(lineCall, caller, agent, null);
    const undo = rememberCounts(facts);
    const decision = decide({ ...facts, caller: asKey });
    const change = { batchId, line, from: 'waiting', errorCode: null, error: null } as const;
    if (decision.kind === 'refused') {
      undo();
      const { budget } = decision;
      if (budget?.isSpent) admission.windows.refused(budget);
      const stop = budget ? stopOfBudget(budget) : stopOf(decision, caller);
      if (stop) return { lines, stop };
      const { code: errorCode, message: error } = decision;
      lines.push({ ...change, to: 'refused', executionId: null, errorCode, error });
      continue;
    }
    if (decision.kind === 'unprepared') {
      // The agent has a limit of cost since the batch was read.
      undo();
      return { lines, stop: { kind: 'full' } };
    }
    if (decision.kind !== 'accepted') throw new Error('A line has no idempotency key.');
    const placement = admission.placeLine(agent, decision);
    if (!placement) {
      undo();
      return { lines, stop: { kind: 'full' } };
    }
    const executionId = admission.accept(lineCall, caller, decision, placement);
    lines.push({ ...change, to: 'processing', executionId });
  }
  return { lines, stop: null };
}

/** Null if the refusal concerns this line only. */
function stopOf({ code }: Refusal, caller: Caller): Stop | null {
  switch (code) {
    case 'UNAUTHORIZED':
      return { kind: 'cancel', reason: caller.ended ? 'key_ended' : 'permission_lost' };
    case 'NOT_FOUND':
    case 'PERMISSION_DENIED':
      return { kind: 'cancel', reason: 'permission_lost' };
    case 'AGENT_NOT_ACTIVE':
      return { kind: 'wait', reason: 'agent_paused' };
    case 'RATE_LIMIT_EXCEEDED':
      return { kind: 'wait', reason: 'rate_limit' };
    case 'QUOTA_EXCEEDED':
      return { kind: 'wait', reason: 'quota' };
    default:
      return null;
  }
}

/** Null if a budget of a user or for tags, which does not concern all lines, is spent forever. */
function stopOfBudget({ isFinal, window: { budget } }: RefusedByBudget): Stop | null {
  if (!isFinal) return { kind: 'wait', reason: 'budget' };
  const isOfLine = budget.per === 'user' || budget.tags !== null;
  return isOfLine ? null : { kind: 'cancel', reason: 'budget_exhausted' };
}

interface WrittenPlan {
  readonly plan: LinePlan;
  readonly waiting: readonly WaitingLine[];
  readonly nowMs: number;
}

/** Returns whether events must be sent. */
async function write(
  send: Send,
  admission: AdmissionBatch,
  batch: LockedBatch,
  { plan: { lines, stop }, waiting, nowMs }: WrittenPlan,
): Promise<boolean> {
  const canceledBecause = stop?.kind === 'cancel' ? stop.reason : null;
  const waitingFor = stop?.kind === 'wait' ? stop.reason : null;
  const changed = changedCounts(batch.counts, lines);
  const canceled = canceledBecause === null ? 0 : changed.waiting;
  const counts = {
    ...changed,
    waiting: changed.waiting - canceled,
    canceled: changed.canceled + canceled,
  };
  const { id } = batch;
  const retryMs = waitingFor === null ? 0 : waitMs;
  const advanced = new Set(lines.map(({ line }) => line));
  const advancedBytes = waiting
    .filter(({ line }) => advanced.has(line))
    .reduce((sum, { bytes }) => sum + bytes, 0);
  const change = {
    ...{ id, counts, canceledBecause, waitingFor, retryMs, advancedBytes },
    admits: true,
  };
  const writes = admission.writes();
  const [, eventsQueued] = await Promise.all([
    canceled > 0 && cancelWaitingLines(send, id, canceledText[canceledBecause ?? 'requested']),
    writeAdmission(send, {
      ...writes,
      lines: { lines, batches: [change] },
      events: [...writes.events, ...endEvents(batch, change, nowMs)],
    }),
  ]);
  return eventsQueued;
}
