import type { Pipelines } from '../store/pipeline.ts';
import {
  begin,
  commit,
  lockWorkflowRuns,
  readSteps,
  writeProgress,
} from '../store/workflow-progress.ts';
import { holdReadySteps } from '../store/workflow-steps.ts';
import type { Definitions } from './definitions.ts';
import { type EventOfRun, type OnProgress, planProgress } from './progress.ts';

/** Lets a run go on after steps of it were refused for good: no execution of theirs will ever end. */
export async function settleSteps(
  parts: {
    readonly pipelines: Pipelines;
    readonly definitions: Definitions;
    readonly onProgress: OnProgress;
  },
  runId: string,
  events: readonly EventOfRun[],
): Promise<void> {
  const progress = await parts.pipelines.use(async (send) => {
    const [, runs, , steps] = await Promise.all([
      begin(send),
      lockWorkflowRuns(send, [runId]),
      // Another process may just have had more luck with one of them.
      holdReadySteps(send, events),
      readSteps(send, [runId], { endingIds: [], whole: true }),
    ]);
    const { writes, ready, ended } = await planProgress(
      parts.definitions,
      send,
      { runs, steps },
      events,
    );
    const [stopping] = await Promise.all([writeProgress(send, writes), commit(send)]);
    return { ready, ended, stopping };
  });
  parts.onProgress(progress);
}
