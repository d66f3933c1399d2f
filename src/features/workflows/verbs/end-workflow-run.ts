import type { RunEnd } from '../../../core/workflow/step-state.ts';
import type { Pipelines, Send } from '../../../db/pipeline.ts';
import { commit } from '../../../db/statements.ts';
import { endedWorkflowRun, type Progressed } from '../../../engine/advance/plan-progress.ts';
import { beginProgress, lockWorkflowRuns } from '../../../engine/advance/workflow-progress.ts';
import { writeCompletion } from '../../../engine/complete/completion.ts';
import { retryTransaction } from '../../../engine/transaction/retry-transaction.ts';

/**
 * Ends a workflow run from outside, by cancel or deadline: no further step starts, and running executions are stopped.
 * Returns false if it has already ended, or if `lock` skips it because another transaction holds it.
 */
export async function endWorkflowRun(
  deps: { readonly pipelines: Pipelines; readonly progressed: Progressed },
  runId: string,
  end: RunEnd,
  lock = lockWorkflowRuns,
): Promise<boolean> {
  const progress = await retryTransaction(() => deps.pipelines.use(transact));
  if (progress) deps.progressed(...progress);
  return progress !== null;

  async function transact(send: Send): Promise<Parameters<Progressed> | null> {
    const [, [run]] = await Promise.all([beginProgress(send), lock(send, [runId])]);
    if (run?.status !== 'processing') {
      await send(commit);
      return null;
    }
    const ended = [endedWorkflowRun(run, end)];
    const [{ stopping, eventsQueued }] = await Promise.all([
      writeCompletion(send, { progress: { steps: [], ends: ended } }),
      send(commit),
    ]);
    return [{ ready: [], ended, stopping, learned: new Map(), faults: [] }, eventsQueued];
  }
}

export const canceled: RunEnd = {
  status: 'canceled',
  errorCode: 'CANCELED',
  error: 'The workflow run was canceled.',
  failedStep: null,
};

export const deadlineExceeded: RunEnd = {
  status: 'failed',
  errorCode: 'DEADLINE_EXCEEDED',
  error: 'The workflow run did not end before its deadline.',
  failedStep: null,
};
