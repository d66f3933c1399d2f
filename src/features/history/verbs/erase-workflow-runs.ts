import { variableText } from '../../../core/agent/variables.ts';
import { everything } from '../../../core/history/history-range.ts';
import { compact } from '../../../core/json.ts';
import type { Db } from '../../../db/database.ts';
import type { Pipelines } from '../../../db/pipeline.ts';
import { forgetRuns } from '../../../engine/complete/events.ts';
import type { RunPaced } from '../../../engine/transaction/paced-transactions.ts';
import { deletedMax } from '../statements/deletion.ts';
import {
  forgetErasedRuns,
  listErasableRuns,
  listExecutionsOfRuns,
  recordScannedRuns,
  type ScannedRuns,
  scanWorkflowRuns,
} from '../statements/erased-runs.ts';
import type { OpenErasure } from '../statements/erasures.ts';
import { deleteErasedWorkflowRuns } from '../statements/workflow-deletion.ts';
import { eraseRecords } from './erase-records.ts';

/** Workflow runs that one step scans. Most do not match. */
const scannedMax = 2_000;
/** Workflow runs that one step deletes. */
const runsAtOnce = 100;
const { fromId: bottom, toId: top } = everything;

interface Deps {
  readonly db: Db;
  readonly pipelines: Pipelines;
}

/**
 * Deletes the workflow runs that an erased value reached: those with a matching input, unless the erasure is for one agent,
 * and those with a matching step. The executions of all their steps and items go with them, because a step may have passed
 * the value on under any name; so do runs that run items of them again, because these took outputs over. Live runs are remembered and deleted once they end. Yields after each step; returns false once
 * the round must end.
 */
export async function* eraseWorkflowRuns(
  deps: Deps,
  erasure: OpenErasure,
  runPaced: RunPaced,
): AsyncGenerator<void, boolean> {
  let { workflowRunsDownTo } = erasure;
  while (erasure.agentId === null && workflowRunsDownTo !== bottom) {
    const next: string | undefined = await runPaced(() =>
      scan(deps.db, { ...erasure, workflowRunsDownTo }),
    );
    if (next === undefined) return false;
    workflowRunsDownTo = next;
    yield;
  }
  for (let after = bottom; ; ) {
    const runIds = await runPaced(() => listErasableRuns(deps.db, erasure.id, after, runsAtOnce));
    const last = runIds?.at(-1);
    if (runIds === undefined || last === undefined) return runIds !== undefined;
    if (!(await deleteRuns(deps, erasure, runIds, runPaced))) return false;
    after = last;
    yield;
  }
}

/** Returns the new progress. */
async function scan(db: Db, erasure: OpenErasure): Promise<string> {
  const scanned = await scanRuns(db, erasure);
  await recordScannedRuns(db, erasure, scanned);
  return scanned.downTo;
}

/** The matching ones of the next workflow runs, ended or not, and the new progress. */
export async function scanRuns(
  db: Db,
  erasure: ScannedRuns,
): Promise<{ readonly ids: readonly string[]; readonly downTo: string }> {
  const { found, downTo } = await scanWorkflowRuns(db, erasure, scannedMax);
  const matching = found.filter(
    ({ text }) => text === null || variableText(compact(text)) === erasure.value,
  );
  return { ids: [...new Set(matching.map(({ id }) => id))], downTo: downTo ?? bottom };
}

/** Executions first: a run that is gone can still be found in the list. What is locked is left for the next round. */
async function deleteRuns(
  { db, pipelines }: Deps,
  erasure: OpenErasure,
  runIds: readonly string[],
  runPaced: RunPaced,
): Promise<boolean> {
  const { id: erasureId, workspaceId } = erasure;
  for (;;) {
    const ids = await runPaced(() => listExecutionsOfRuns(db, runIds, deletedMax));
    if (ids === undefined) return false;
    if (ids.length === 0) break;
    const batch = { erasureId, ids, downTo: top };
    const deletedCount = await eraseRecords({ db, pipelines }, batch, runPaced);
    if (deletedCount === undefined) return false;
    if (deletedCount < ids.length) break;
  }
  // Also of runs that are gone: a killed round may have deleted them.
  await runPaced(() => forgetRuns(db, workspaceId, runIds));
  for (;;) {
    const deletedCount = await runPaced(() => deleteErasedWorkflowRuns(db, runIds));
    if (deletedCount === undefined) return false;
    if (deletedCount === 0) break;
  }
  await runPaced(() => forgetErasedRuns(db, erasure, runIds));
  return true;
}
