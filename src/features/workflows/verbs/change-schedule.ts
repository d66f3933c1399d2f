import { parseExecuteBody } from '../../../core/agent/variables.ts';
import { bodyFailure } from '../../../core/execution/refusal-messages.ts';
import { CallFailure, invalidRequest, requireFound } from '../../../core/failure.ts';
import { uuid7 } from '../../../core/id.ts';
import { changedLabels, type LabelFields } from '../../../core/labels.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { type Precondition, refuseStale } from '../../../core/precondition.ts';
import type { WorkflowDefinition } from '../../../core/workflow/definition.ts';
import { readClock } from '../../../db/clock.ts';
import { type Db, inTransaction, type Trx } from '../../../db/database.ts';
import { auditChange } from '../../people/verbs/audit-change.ts';
import { limitNotKept, missingInput } from '../rules/decide-start.ts';
import { type MissedPolicy, nextTicks, scheduleProblem } from '../rules/schedule.ts';
import * as store from '../statements/schedules.ts';
import { findWorkflow, lockWorkflow } from '../statements/workflows.ts';

/** Creates, changes and deletes schedules. Their row holds the next tick, by the database's clock. */

export interface ScheduleInput {
  readonly cron: string;
  readonly timeZone: string;
  readonly missed: MissedPolicy;
  /** JSON text of an object. */
  readonly input: string;
  /** JSON text; null if its workflow runs have none. */
  readonly labels: string | null;
  /** Decimal text; null for no limit. */
  readonly maxCostUsd: string | null;
  readonly enabled: boolean;
}

export type ScheduleChange = Partial<Omit<ScheduleInput, 'labels'>> & {
  readonly labels: LabelFields;
};

/** Per workflow: every due schedule costs work each second. */
const schedulesMax = 100;

export async function createSchedule(
  db: Db,
  caller: Caller,
  workflowId: string,
  input: ScheduleInput,
): Promise<store.ScheduleRow> {
  requireValidTimes(input);
  return inTransaction(db, async (trx) => {
    const workflow = requireFound(await lockWorkflow(trx, caller, workflowId), 'workflow');
    requireInput(input, workflow.definition);
    if ((await store.countSchedules(trx, workflow.id)) >= schedulesMax) {
      const message = `A workflow has at most ${schedulesMax} schedules.`;
      throw new CallFailure('CONFLICT', message);
    }
    const nowMs = await readClock(trx);
    requireNextTick(input, nowMs);
    await requireKeptLimit(trx, input);
    const { workspaceId, userId: createdBy } = caller;
    const origin = { id: uuid7(nowMs), workflowId: workflow.id, workspaceId, createdBy };
    const row = await store.insertSchedule(trx, {
      ...origin,
      ...input,
      nextAtMs: nextAtMs(input, nowMs),
    });
    const { cron, timeZone } = input;
    await auditChange(trx, caller, 'schedule.create', row.id, { cron, timeZone });
    return row;
  });
}

/**
 * A change to the current values does nothing. A change of the times, or enabling the schedule, skips missed ticks; other
 * changes keep a due tick. Unchanged times and input are validated only when the schedule is enabled: they may be invalid
 * by now, and it must still be possible to disable it.
 */
export async function changeSchedule(
  db: Db,
  caller: Caller,
  { workflowId, id }: { readonly workflowId: string; readonly id: string },
  { labels, ...others }: ScheduleChange,
  isCurrent: Precondition,
): Promise<store.ScheduleRow> {
  return inTransaction(db, async (trx) => {
    const found = await store.lockSchedule(trx, workflowId, id);
    const row = requireFound(found, 'schedule', 'workflow');
    refuseStale(row.revision, isCurrent);
    const change = { ...others, labels: changedLabels(row.labels, labels) };
    const changed = { ...row, ...change };
    const fields = (Object.keys(change) as (keyof ScheduleInput)[]).filter(
      (field) => change[field] !== row[field],
    );
    if (fields.length === 0) return row;
    const isEnabled = changed.enabled && !row.enabled;
    const isRetimed = fields.includes('cron') || fields.includes('timeZone') || isEnabled;
    if (isRetimed) requireValidTimes(changed);
    if (fields.includes('input') || isEnabled) {
      const found = await findWorkflow(trx, caller, workflowId);
      const workflow = requireFound(found, 'schedule', 'workflow');
      requireInput(changed, workflow.definition);
    }
    if (fields.includes('maxCostUsd')) await requireKeptLimit(trx, changed);
    await auditChange(trx, caller, 'schedule.change', row.id, { fields });
    const nowMs = await readClock(trx);
    if (isRetimed) requireNextTick(changed, nowMs);
    const next = isRetimed ? nextAtMs(changed, nowMs) : unchangedAtMs(changed);
    return store.updateSchedule(trx, { ...changed, nextAtMs: next });
  });
}

export async function deleteSchedule(
  db: Db,
  caller: Caller,
  { workflowId, id }: { readonly workflowId: string; readonly id: string },
  isCurrent: Precondition,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    const found = await store.lockSchedule(trx, workflowId, id);
    const row = requireFound(found, 'schedule', 'workflow');
    refuseStale(row.revision, isCurrent);
    await store.deleteSchedule(trx, row.id);
    await auditChange(trx, caller, 'schedule.delete', row.id, {});
  });
}

function requireValidTimes(input: ScheduleInput): void {
  const problem = scheduleProblem(input);
  if (problem !== null) throw invalidRequest(problem);
}

function requireNextTick(input: ScheduleInput, nowMs: number): void {
  if (nextTicks(input, nowMs, 1).length > 0) return;
  throw invalidRequest('Field "cron" never matches a time in the future.');
}

/** Reports at once why a tick would be refused. */
function requireInput({ input }: ScheduleInput, definition: WorkflowDefinition): void {
  const body = parseExecuteBody(`{"input":${input}}`, 'input');
  const failure = body.kind === 'variables' ? missingInput(body, definition) : bodyFailure(body);
  if (failure) throw new CallFailure(failure.code, failure.message, { ...failure.fields });
}

async function requireKeptLimit(trx: Trx, { maxCostUsd }: ScheduleInput): Promise<void> {
  if (maxCostUsd === null || (await store.isRunLimitKept(trx))) return;
  throw new CallFailure('UNAVAILABLE', limitNotKept);
}

function nextAtMs(input: ScheduleInput, nowMs: number): number | null {
  return input.enabled ? (nextTicks(input, nowMs, 1)[0] ?? null) : null;
}

function unchangedAtMs({ enabled, nextAt }: store.ScheduleRow): number | null {
  return enabled ? (nextAt?.getTime() ?? null) : null;
}
