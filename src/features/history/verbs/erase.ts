import { variableText } from '../../../core/agent/variables.ts';
import { CallFailure, invalidRequest, notFound } from '../../../core/failure.ts';
import { type ErasedValue, labelsHave } from '../../../core/history/erased-value.ts';
import { everything } from '../../../core/history/history-range.ts';
import { toId, uuid7 } from '../../../core/id.ts';
import { compact, isStorable } from '../../../core/json.ts';
import { storedLabels } from '../../../core/labels.ts';
import { actorOf, serviceActor } from '../../../core/people/audit.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { readClock } from '../../../db/clock.ts';
import { type Db, inTransaction, type Trx } from '../../../db/database.ts';
import type { Pipelines } from '../../../db/pipeline.ts';
import { forgetUserInBudgets } from '../../../engine/budgets/forget-user.ts';
import { forgetLabelInEvents } from '../../../engine/complete/events.ts';
import { forgetLabel } from '../../../engine/complete/label-changes.ts';
import type { RunPaced } from '../../../engine/transaction/paced-transactions.ts';
import { findAgent } from '../../agents/statements/agents.ts';
import { cancelErasedLines, lockWaitingBatches } from '../../batches/statements/batches.ts';
import { writeAudit } from '../../people/statements/audit-statements.ts';
import { listScheduleInputs } from '../../workflows/statements/schedules.ts';
import { containsValue } from '../rules/contains-value.ts';
import { deletedMax } from '../statements/deletion.ts';
import { forgetLineIdsOf } from '../statements/erased-lines.ts';
import { hideLiveExecutions, hideLiveWithLabel } from '../statements/erased-live.ts';
import * as store from '../statements/erasures.ts';
import { eraseLeftovers } from './erase-leftovers.ts';
import { eraseRecords } from './erase-records.ts';
import { eraseViews } from './erase-views.ts';
import { eraseWorkflowRuns } from './erase-workflow-runs.ts';

/**
 * Erasure of one end user: deletes every record with the requested `user`, tag or value of the metadata, or whose variable has
 * the requested value, for one agent or for all agents of the workspace. The statistics forget the user, tag or value: their
 * counts stay. Its events stay as well, without their labels. Lines of batches lose their ids; those that wait are canceled and
 * lose their contents. Saved views that name the value are deleted.
 *
 * States: as in `features/history/statements/erasures.ts`. `downTo` moves from the newest record to the oldest. Maintenance rounds do the
 * work in small transactions. The erasure remembers live executions that match, hides whom they are for, and deletes their
 * records once they end.
 *
 * Invariants: progress is written in the transaction that deletes, so a killed round loses nothing. A record that is locked
 * is remembered and retried, never skipped. A workflow run that the value reached is deleted with all its executions. The
 * idempotency keys of deleted records are deleted. Schedules are only listed: a person must change them.
 */

/** The value of a variable is as rendered in a prompt: a string unchanged, anything else as JSON text. */
export interface ErasureInput extends ErasedValue {
  /** Null for all agents, undefined for a malformed id. */
  readonly agentId: string | null | undefined;
}

const openErasuresMax = 100;

export async function requestErasure(
  db: Db,
  caller: Caller,
  input: ErasureInput,
): Promise<store.ErasureRow> {
  const { agentId: given, ...erased } = input;
  refuseUnstorable(erased);
  const { workspaceId, userId: requestedBy } = caller;
  return inTransaction(db, async (trx) => {
    const agentId = await requireErasable(trx, caller, given);
    if ((await store.countOpenErasures(trx, workspaceId)) >= openErasuresMax) {
      const message = `${openErasuresMax} erasures are in progress. Wait until one completes.`;
      throw new CallFailure('CONFLICT', message);
    }
    const id = uuid7(await readClock(trx));
    const schedules = await findSchedules(trx, workspaceId, erased);
    const erasure = { ...erased, id, workspaceId, agentId, requestedBy };
    await store.insertErasure(trx, { ...erasure, schedules });
    await eraseViews(trx, erasure);
    await hideLiveWithLabel(trx, erasure);
    // Events that are still to be sent must not name the user. Later ones follow when the erasure is complete.
    if (erased.variable === null) await forgetLabelInEvents(trx, erasure);
    await writeAudit(trx, actorOf(caller), {
      action: 'erasure.request',
      subject: toId('erasure', id),
      details: { ...auditedAs(erased), agentId: agentId && toId('agent', agentId) },
    });
    // Lines that start before this lock are scanned, because their ids are lower. The others are canceled.
    const waiting = await lockWaitingBatches(trx, { workspaceId, agentId });
    await store.extendErasure(trx, id);
    await cancelErasedLines(trx, waiting, erasure);
    const row = await store.findErasure(trx, workspaceId, id);
    if (!row) throw new Error('The inserted erasure does not exist.');
    return row;
  });
}

/** Throws 404 unless it is about all agents or one that the caller sees. */
export async function requireErasable(
  db: Db,
  caller: Caller,
  agentId: ErasureInput['agentId'],
): Promise<string | null> {
  if (agentId === undefined) throw notFound('agent');
  if (agentId !== null && !(await findAgent(db, caller, agentId))) throw notFound('agent');
  return agentId;
}

export function refuseUnstorable({ value, variable, label, labelName }: ErasedValue): void {
  const fields = {
    ...(variable === null ? { [label ?? 'user']: value } : { variable, value }),
    ...(labelName !== null && { metadata: labelName + value }),
  };
  for (const [field, text] of Object.entries(fields)) {
    if (isStorable(JSON.stringify(text))) continue;
    const message = `Field "${field}" contains a NUL or a lone surrogate. No record can contain it.`;
    throw invalidRequest(message);
  }
}

/** Never the value. */
function auditedAs({ variable, label, labelName }: ErasedValue): Record<string, string | null> {
  if (variable !== null) return { variable };
  return label === 'metadata' ? { metadata: labelName } : { by: label ?? 'user' };
}

const schedulesAtOnce = 100;

/** The schedules of the workspace whose input contains the value, or that start workflow runs with the label. */
async function findSchedules(
  trx: Trx,
  workspaceId: string,
  erased: ErasedValue,
): Promise<string[]> {
  const found: string[] = [];
  for (let after = bottom; ; ) {
    const page = { after, limit: schedulesAtOnce };
    const schedules = await listScheduleInputs(trx, workspaceId, page);
    for (const { id, input, labels } of schedules) {
      const isFound =
        erased.variable === null
          ? labelsHave(storedLabels(labels), erased)
          : containsValue(JSON.parse(input), erased.value);
      if (isFound) found.push(id);
    }
    const last = schedules.at(-1);
    if (last === undefined) return found;
    after = last.id;
  }
}

/** Records that one step scans. Most do not match. */
const scannedMax = 2_000;
/** The share of erasures in a round. */
const erasuresMs = 30_000;
/** `bottom` as progress: all records are scanned. `top`: no progress. */
const { fromId: bottom, toId: top } = everything;

/**
 * Works on open erasures for a limited time: one step per workspace in turn, the oldest erasure of each first. The first
 * workspace is random, because there may be more workspaces than time. Throws the first failure.
 */
export async function workErasures(
  db: Db,
  pipelines: Pipelines,
  runPaced: RunPaced,
): Promise<void> {
  const until = performance.now() + erasuresMs;
  const open = Map.groupBy(await store.listOpenErasures(db), ({ workspaceId }) => workspaceId);
  const failures: unknown[] = [];
  let workspaces = [...open.values()].map((erasures) => eraseInTurn(erasures));
  const first = Math.floor(Math.random() * workspaces.length);
  workspaces = [...workspaces.slice(first), ...workspaces.slice(0, first)];
  while (workspaces.length > 0) {
    const unfinished: typeof workspaces = [];
    for (const steps of workspaces) {
      if (performance.now() <= until && !(await steps.next()).done) unfinished.push(steps);
    }
    workspaces = unfinished;
  }
  if (failures.length > 0) throw failures[0];

  /** A failed erasure does not block the next one. */
  async function* eraseInTurn(erasures: readonly store.OpenErasure[]): AsyncGenerator<void> {
    for (const erasure of erasures) {
      try {
        yield* erase(db, pipelines, erasure, runPaced);
      } catch (error) {
        failures.push(error);
        yield;
      }
    }
  }
}

/** Yields after each step. */
async function* erase(
  db: Db,
  pipelines: Pipelines,
  erasure: store.OpenErasure,
  runPaced: RunPaced,
): AsyncGenerator<void> {
  let { downTo } = erasure;
  if (downTo !== bottom) {
    await runPaced(() => store.awaitAdmissions(db, erasure.workspaceId));
  }
  while (downTo !== bottom) {
    const next = await scanAndDelete(db, pipelines, { ...erasure, downTo }, runPaced);
    if (next === undefined) return;
    downTo = next;
    yield;
  }
  await deleteEnded(db, pipelines, erasure, runPaced);
  if (!(yield* eraseWorkflowRuns({ db, pipelines }, erasure, runPaced))) return;
  if (!(yield* eraseLeftovers(db, erasure, runPaced))) return;
  await runPaced(async () => {
    await forgetInBudgets(db, erasure);
    await complete(db, erasure);
  });
  yield;
}

/** Returns the new progress; undefined once the round must end. */
async function scanAndDelete(
  db: Db,
  pipelines: Pipelines,
  erasure: store.OpenErasure,
  runPaced: RunPaced,
): Promise<string | undefined> {
  const scan = await runPaced(() => scanRecords(db, erasure));
  if (!scan) return undefined;
  const { ids, downTo } = scan;
  // A locked record is remembered like a live execution, so none is skipped.
  for (let at = 0; at === 0 || at < ids.length; at += deletedMax) {
    const batch = { ids: ids.slice(at, at + deletedMax), runPaced };
    const reached = at + deletedMax >= ids.length ? downTo : erasure.downTo;
    if ((await deleteBatch(db, pipelines, erasure, batch, reached)) === undefined) return undefined;
  }
  return downTo;
}

/** The matching ones of the next executions, ended or not, and the new progress. */
export async function scanRecords(
  db: Db,
  erasure: store.ScannedErasure,
): Promise<{ readonly ids: readonly string[]; readonly downTo: string }> {
  const { variable, label, value } = erasure;
  const { scanForErasure, scanForLabel, scanForUser } = store;
  const scan = variable !== null ? scanForErasure : label !== null ? scanForLabel : scanForUser;
  const { found, downTo } = await scan(db, erasure, scannedMax);
  const matching = found.filter(
    ({ text }) => text === null || variableText(compact(text)) === value,
  );
  return { ids: [...new Set(matching.map(({ id }) => id))], downTo: downTo ?? bottom };
}

async function deleteEnded(
  db: Db,
  pipelines: Pipelines,
  erasure: store.OpenErasure,
  runPaced: RunPaced,
): Promise<void> {
  for (;;) {
    const ids = (await runPaced(() => store.deletableExecutions(db, erasure.id, deletedMax))) ?? [];
    const deleted =
      ids.length > 0 && (await deleteBatch(db, pipelines, erasure, { ids, runPaced }, top));
    // The next round removes locked records.
    if (!deleted || ids.length < deletedMax) return;
  }
}

/** Returns the number of deleted records; undefined once the round must end. */
async function deleteBatch(
  db: Db,
  pipelines: Pipelines,
  erasure: store.OpenErasure,
  { ids, runPaced }: { readonly ids: readonly string[]; readonly runPaced: RunPaced },
  downTo: string,
): Promise<number | undefined> {
  if (ids.length > 0) {
    // Before their records are deleted: afterwards nothing would lead to the workflow runs and lines.
    const isPrepared = await runPaced(async () => {
      await hideLiveExecutions(db, erasure, ids);
      await forgetLineIdsOf(db, ids);
      return true;
    });
    if (!isPrepared) return undefined;
  }
  return eraseRecords({ db, pipelines }, { erasureId: erasure.id, ids, downTo }, runPaced);
}

/** Once, when no execution of the user is left that was accepted before: each time, its budgets begin at zero for the user. */
async function forgetInBudgets(db: Db, erasure: store.OpenErasure): Promise<void> {
  const { id, variable, label, value: user, workspaceId, agentId } = erasure;
  if (variable !== null || label !== null || !(await store.isCompletable(db, id))) return;
  await inTransaction(db, (trx) => forgetUserInBudgets(trx, { workspaceId, agentId, user }));
}

async function complete(db: Db, erasure: store.OpenErasure): Promise<void> {
  const { id, workspaceId } = erasure;
  await db.transaction(async (trx) => {
    const done = await store.completeErasure(trx, id);
    if (!done) return;
    await eraseViews(trx, erasure);
    if (erasure.variable === null) {
      await forgetLabel(trx, erasure);
      await forgetLabelInEvents(trx, erasure);
    }
    await writeAudit(trx, serviceActor(workspaceId), {
      action: 'erasure.complete',
      subject: toId('erasure', id),
      details: { deleted: done.deleted },
    });
    // Lines that were stored before the value was gone.
    const waiting = await lockWaitingBatches(trx, erasure);
    await cancelErasedLines(trx, waiting, erasure);
  });
}
