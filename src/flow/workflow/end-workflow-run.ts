import type { RunEnd } from '../../core/workflow/step-state.ts';
import type { Pipelines, Send } from '../../store/connection/pipeline.ts';
import { commit } from '../../store/connection/statements.ts';
import {
  beginProgress,
  lockWorkflowRuns,
  writeProgress,
} from '../../store/workflow/workflow-progress.ts';
import { retryTransaction } from '../admission/retry-transaction.ts';
import type { OnProgress } from './progress.ts';

/**
 * Ends a workflow run from outside, by cancel or deadline: no further step starts, and running executions are stopped.
 * Returns false if it has already ended, or if `lock` skips it because another transaction holds it.
 */
export async function endWorkflowRun(
  deps: { readonly pipelines: Pipelines; readonly onProgress: OnProgress },
  runId: string,
  end: RunEnd,
  lock = lockWorkflowRuns,
): Promise<boolean> {
  const progress = await retryTransaction(() => deps.pipelines.use(transact));
  if (progress) deps.onProgress(progress);
  return progress !== null;

  async function transact(send: Send) {
    const [, [run]] = await Promise.all([beginProgress(send), lock(send, [runId])]);
    if (run?.status !== 'processing') {
      await send(commit);
      return null;
    }
    const [stopping] = await Promise.all([
      writeProgress(send, { steps: [], ends: [{ runId, end }] }),
      send(commit),
    ]);
    return { ready: [], ended: [{ runId, workflowId: run.workflow_id, end }], stopping };
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
