import { parseExecuteBody } from '../../core/agent/variables.ts';
import type { Caller } from '../../core/execution/caller.ts';
import { bodyFailure } from '../../core/execution/refusal-messages.ts';
import { CallFailure } from '../../core/failure.ts';
import { toId, uuid7 } from '../../core/id.ts';
import { type AuditAction, actorOf } from '../../core/people/audit.ts';
import { missingInput } from '../../core/workflow/decide-start.ts';
import type { WorkflowDefinition } from '../../core/workflow/definition.ts';
import { type MissedPolicy, nextTicks, scheduleProblem } from '../../core/workflow/schedule.ts';
import { readClock } from '../../store/connection/clock.ts';
import { type Db, inTransaction, type Trx } from '../../store/connection/database.ts';
import { writeAudit } from '../../store/people/audit.ts';
import * as store from '../../store/workflow/schedules.ts';
import { findWorkflow, lockWorkflow } from '../../store/workflow/workflows.ts';
import { type Precondition, refuseStale } from '../agent/precondition.ts';
import { noSuchWorkflow } from './change-workflow.ts';

/** Schedules: making, changing and deleting them. When they tick next stands in their row, by the database's clock. */

export interface ScheduleInput {
  readonly cron: string;
  readonly timeZone: string;
  readonly missed: MissedPolicy;
  /** JSON text of an object. */
  readonly input: string;
  readonly enabled: boolean;
}

/** Of one workflow; each is looked at every second that it is due. */
const schedulesMax = 100;

export async function createSchedule(
  db: Db,
  caller: Caller,
  workflowId: string | null,
  input: ScheduleInput,
): Promise<store.ScheduleRow> {
  refuseWrong(input);
  return inTransaction(db, async (trx) => {
    const workflow = workflowId && (await lockWorkflow(trx, caller, workflowId));
    if (!workflow) throw noSuchWorkflow();
    refuseInput(input, workflow.definition);
    if ((await store.countSchedules(trx, workflow.id)) >= schedulesMax) {
      const message = `A workflow has at most ${schedulesMax} schedules.`;
      throw new CallFailure('CONFLICT', message);
    }
    const nowMs = await readClock(trx);
    refuseNever(input, nowMs);
    const { workspaceId, userId: createdBy } = caller;
    const origin = { id: uuid7(nowMs), workflowId: workflow.id, workspaceId, createdBy };
    const row = await store.insertSchedule(trx, {
      ...origin,
      ...input,
      nextAtMs: nextAtMs(input, nowMs),
    });
    const { cron, timeZone } = input;
    await audit(trx, caller, 'schedule.create', row.id, { cron, timeZone });
    return row;
  });
}

/**
 * What is so already is left as it is. Where its times are changed, or it is switched on, what was missed before is not
 * made up for; a tick that is due is else still to come. What is left as it is, times and input, is looked at only where
 * it is switched on: it may have been taken once, or have sufficed for a version pinned before, and must still let itself
 * be switched off.
 */
export async function changeSchedule(
  db: Db,
  caller: Caller,
  { workflowId, id }: { readonly workflowId: string; readonly id: string | null },
  change: Partial<ScheduleInput>,
  isCurrent: Precondition,
): Promise<store.ScheduleRow> {
  return inTransaction(db, async (trx) => {
    const row = id && (await store.lockSchedule(trx, workflowId, id));
    if (!row) throw noSuchSchedule();
    refuseStale(row.revision, isCurrent);
    const changed = { ...row, ...change };
    const fields = (Object.keys(change) as (keyof ScheduleInput)[]).filter(
      (field) => change[field] !== row[field],
    );
    if (fields.length === 0) return row;
    const switchedOn = changed.enabled && !row.enabled;
    const timed = fields.includes('cron') || fields.includes('timeZone') || switchedOn;
    if (timed) refuseWrong(changed);
    if (fields.includes('input') || switchedOn) {
      const workflow = await findWorkflow(trx, caller, workflowId);
      if (!workflow) throw noSuchSchedule();
      refuseInput(changed, workflow.definition);
    }
    await audit(trx, caller, 'schedule.change', row.id, { fields });
    const nowMs = await readClock(trx);
    if (timed) refuseNever(changed, nowMs);
    const next = timed ? nextAtMs(changed, nowMs) : keptAtMs(changed);
    return store.updateSchedule(trx, { ...changed, nextAtMs: next });
  });
}

export async function deleteSchedule(
  db: Db,
  caller: Caller,
  { workflowId, id }: { readonly workflowId: string; readonly id: string | null },
): Promise<void> {
  await inTransaction(db, async (trx) => {
    const row = id && (await store.lockSchedule(trx, workflowId, id));
    if (!row) throw noSuchSchedule();
    await store.deleteSchedule(trx, row.id);
    await audit(trx, caller, 'schedule.delete', row.id, {});
  });
}

export function noSuchSchedule(): CallFailure {
  return new CallFailure('NOT_FOUND', 'The workflow has no such schedule.');
}

function refuseWrong(input: ScheduleInput): void {
  const problem = scheduleProblem(input);
  if (problem !== null) throw new CallFailure('INVALID_REQUEST', problem);
}

function refuseNever(input: ScheduleInput, nowMs: number): void {
  if (nextTicks(input, nowMs, 1).length > 0) return;
  throw new CallFailure('INVALID_REQUEST', 'Field "cron" names no time that will ever come.');
}

/** What a tick would be refused for is told to whoever sets it. */
function refuseInput({ input }: ScheduleInput, definition: WorkflowDefinition): void {
  const body = parseExecuteBody(`{"input":${input}}`, 'input');
  const failure = body.kind === 'variables' ? missingInput(body, definition) : bodyFailure(body);
  if (failure) throw new CallFailure(failure.code, failure.message, { ...failure.fields });
}

function nextAtMs(input: ScheduleInput, nowMs: number): number | null {
  return input.enabled ? (nextTicks(input, nowMs, 1)[0] ?? null) : null;
}

function keptAtMs({ enabled, nextAt }: store.ScheduleRow): number | null {
  return enabled ? (nextAt?.getTime() ?? null) : null;
}

function audit(
  trx: Trx,
  caller: Caller,
  action: Extract<AuditAction, `schedule.${string}`>,
  id: string,
  details: Readonly<Record<string, unknown>>,
): Promise<void> {
  return writeAudit(trx, actorOf(caller), { action, subject: toId('schedule', id), details });
}
