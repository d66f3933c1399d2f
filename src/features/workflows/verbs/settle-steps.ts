import type { Pipelines, Send } from '../../../db/pipeline.ts';
import { commit } from '../../../db/statements.ts';
import {
  type ProgressDeps,
  type Progressed,
  planProgress,
  type WorkflowRunEvent,
} from '../../../engine/advance/plan-progress.ts';
import { beginProgress, lockWorkflowRuns } from '../../../engine/advance/workflow-progress.ts';
import { readSteps } from '../../../engine/advance/workflow-progress-read.ts';
import { lockReadyStepsOfRuns } from '../../../engine/advance/workflow-steps.ts';
import { writeCompletion } from '../../../engine/complete/completion.ts';
import {
  endAfterRetries,
  retryTransaction,
} from '../../../engine/transaction/retry-transaction.ts';

/** Advances a workflow run after admission refused some of its steps. No end of an execution would advance it. */
export async function settleSteps(
  deps: ProgressDeps & {
    readonly pipelines: Pipelines;
    readonly progressed: Progressed;
  },
  runId: string,
  events: readonly WorkflowRunEvent[],
): Promise<void> {
  const progress = await endAfterRetries((unwritable) =>
    retryTransaction(() => deps.pipelines.use((send) => settle(send, unwritable))),
  );
  deps.progressed(...progress);

  async function settle(send: Send, unwritable: Error | null): Promise<Parameters<Progressed>> {
    const [, runs, , steps] = await Promise.all([
      beginProgress(send),
      lockWorkflowRuns(send, [runId]),
      // Another process may have called one of them successfully.
      lockReadyStepsOfRuns(send, events),
      readSteps(send, events),
    ]);
    const plan = await planProgress(deps, send, { runs, steps, shared: false, unwritable }, events);
    const [{ stopping, eventsQueued }] = await Promise.all([
      writeCompletion(send, { progress: plan.writes }),
      send(commit),
    ]);
    return [{ ...plan.progress, stopping }, eventsQueued];
  }
}
