import { variableText } from '../../core/agent/variables.ts';
import { everything } from '../../core/history/history-range.ts';
import { compact } from '../../core/json.ts';
import type { Db } from '../../store/connection/database.ts';
import type { OpenErasure } from '../../store/history/erasures.ts';
import { recordWorkflowRuns, scanWorkflowRuns } from '../../store/workflow/erased-runs.ts';
import { removeErasedWorkflowRuns } from '../../store/workflow/workflow-removal.ts';
import type { RunPaced } from './paced-transactions.ts';

/** Workflow runs that one step scans. Most do not match. */
const scannedMax = 2_000;
const bottom = everything.fromId;

/**
 * Deletes workflow runs whose input matches an erasure, whatever agents they called. Live ones are remembered and deleted
 * once they end. Yields after each step; returns false once the round must end.
 */
export async function* eraseWorkflowRuns(
  db: Db,
  erasure: OpenErasure,
  runPaced: RunPaced,
): AsyncGenerator<void, boolean> {
  let { workflowRunsDownTo } = erasure;
  while (workflowRunsDownTo !== bottom) {
    const next: string | undefined = await runPaced(() =>
      scan(db, { ...erasure, workflowRunsDownTo }),
    );
    if (next === undefined) return false;
    workflowRunsDownTo = next;
    yield;
  }
  for (;;) {
    const removed = await runPaced(() => removeErasedWorkflowRuns(db, erasure.id));
    if (removed === undefined) return false;
    if (removed === 0) return true;
    yield;
  }
}

/** Returns the new progress. */
async function scan(db: Db, erasure: OpenErasure): Promise<string> {
  const scanned = await scanWorkflowRuns(db, erasure, scannedMax);
  const downTo = scanned.downTo ?? bottom;
  const ids = scanned.found
    .filter(({ text }) => text === null || variableText(compact(text)) === erasure.value)
    .map(({ id }) => id);
  await recordWorkflowRuns(db, erasure.id, { ids, downTo });
  return downTo;
}
