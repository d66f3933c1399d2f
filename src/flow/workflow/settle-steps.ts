import type { Pipelines, Send } from '../../store/connection/pipeline.ts';
import { commit } from '../../store/connection/statements.ts';
import {
  beginProgress,
  lockWorkflowRuns,
  writeProgress,
} from '../../store/workflow/workflow-progress.ts';
import { readSteps } from '../../store/workflow/workflow-progress-read.ts';
import { lockReadyStepsOfRuns } from '../../store/workflow/workflow-steps.ts';
import { endAfterRetries, retryTransaction } from '../admission/retry-transaction.ts';
import {
  type OnProgress,
  type ProgressDeps,
  planProgress,
  type WorkflowRunEvent,
} from './progress.ts';

/** Advances a workflow run after admission refused some of its steps. No end of an execution would advance it. */
export async function settleSteps(
  deps: ProgressDeps & { readonly pipelines: Pipelines; readonly onProgress: OnProgress },
  runId: string,
  events: readonly WorkflowRunEvent[],
): Promise<void> {
  const progress = await endAfterRetries((unwritable) =>
    retryTransaction(() => deps.pipelines.use((send) => settle(send, unwritable))),
  );
  progress.committed();
  deps.onProgress(progress);

  async function settle(send: Send, unwritable: Error | null) {
    const [, runs, , steps] = await Promise.all([
      beginProgress(send),
      lockWorkflowRuns(send, [runId]),
      // Another process may have called one of them successfully.
      lockReadyStepsOfRuns(send, events),
      readSteps(send, events),
    ]);
    const plan = await planProgress(deps, send, { runs, steps, shared: false, unwritable }, events);
    const [stopping] = await Promise.all([writeProgress(send, plan.writes), send(commit)]);
    return { ...plan, stopping };
  }
}
