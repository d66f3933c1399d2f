import { variableText } from '../../core/agent/variables.ts';
import { everything } from '../../core/history/history-range.ts';
import { compact } from '../../core/json.ts';
import type { Db } from '../../store/connection/database.ts';
import type { OpenErasure } from '../../store/history/erasures.ts';
import { recordWorkflowRuns, scanWorkflowRuns } from '../../store/workflow/erased-runs.ts';
import { removeErasedWorkflowRuns } from '../../store/workflow/workflow-removal.ts';
import type { Pace } from './paced-transactions.ts';

/** What is looked at in one go: most of it is not of that end user. */
const lookedMax = 2_000;
const bottom = everything.fromId;

/**
 * Deletes the runs of workflows whose input names the end user of an erasure, whatever agents they called; yields after
 * each step. Those that have not ended are waited for. False where the round is over.
 */
export async function* eraseWorkflowRuns(
  db: Db,
  erasure: OpenErasure,
  pace: Pace,
): AsyncGenerator<void, boolean> {
  let { workflowRunsDownTo } = erasure;
  while (workflowRunsDownTo !== bottom) {
    const next: string | undefined = await pace(() => step(db, { ...erasure, workflowRunsDownTo }));
    if (next === undefined) return false;
    workflowRunsDownTo = next;
    yield;
  }
  for (;;) {
    const removed = await pace(() => removeErasedWorkflowRuns(db, erasure.id));
    if (removed === undefined) return false;
    if (removed === 0) return true;
    yield;
  }
}

/** Answers how far it has come. */
async function step(db: Db, erasure: OpenErasure): Promise<string> {
  const look = await scanWorkflowRuns(db, erasure, lookedMax);
  const downTo = look.downTo ?? bottom;
  const ids = look.found
    .filter(({ text }) => text === null || variableText(compact(text)) === erasure.value)
    .map(({ id }) => id);
  await recordWorkflowRuns(db, erasure.id, { ids, downTo });
  return downTo;
}
