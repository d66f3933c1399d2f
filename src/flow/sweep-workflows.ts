import type { Db } from '../store/db.ts';
import type { Pipelines } from '../store/pipeline.ts';
import type { Stopping } from '../store/workflow-progress.ts';
import { markStopped, overdueRuns, takeDueSteps, takeDueStops } from '../store/workflow-steps.ts';
import type { Canceler } from './cancel.ts';
import type { Definitions } from './definitions.ts';
import { endRun } from './end-run.ts';
import { inTurn } from './in-turn.ts';
import { agentIdOf, type OnProgress } from './progress.ts';
import type { StepTaker } from './take-steps.ts';

/**
 * What nobody sees to by himself any more: steps that are ready though whoever made them so is gone or had to wait for a
 * limit, executions of ended runs that were not stopped, and runs whose deadline has passed.
 */
export interface SweepParts {
  readonly db: Db;
  readonly pipelines: Pipelines;
  readonly definitions: Definitions;
  readonly taker: Pick<StepTaker, 'take'>;
  readonly canceler: Canceler;
  readonly onProgress: OnProgress;
}

const atOnce = 200;

export async function sweepWorkflows(parts: SweepParts): Promise<void> {
  await inTurn([() => endOverdue(parts), () => stopLeftOver(parts), () => takeDue(parts)]);
}

async function endOverdue(parts: SweepParts): Promise<void> {
  for (const runId of await overdueRuns(parts.db, atOnce)) {
    await endRun(parts, runId, {
      status: 'failed',
      errorCode: 'DEADLINE_EXCEEDED',
      error: 'The run did not end before its deadline.',
      failedStep: null,
    });
  }
}

async function stopLeftOver(parts: SweepParts): Promise<void> {
  await stopExecutions(parts, await takeDueStops(parts.db, atOnce));
}

/** Stops the executions of ended runs; those that have ended by themselves are only noted. */
export async function stopExecutions(
  parts: Pick<SweepParts, 'db' | 'canceler'>,
  stopping: readonly Stopping[],
): Promise<void> {
  const canceled = await Promise.all(
    stopping.map(({ executionId }) => parts.canceler.cancel(executionId)),
  );
  const over = stopping.filter((_, at) => !canceled[at]);
  if (over.length > 0) await markStopped(parts.db, over);
}

async function takeDue(parts: SweepParts): Promise<void> {
  for (;;) {
    const due = await takeDueSteps(parts.db, atOnce);
    if (due.length === 0) return;
    parts.taker.take(
      await parts.pipelines.use((send) =>
        Promise.all(
          due.map(async (step) => {
            const definition = await parts.definitions(send, step.workflowVersionId);
            return { ...step, agentId: agentIdOf(definition, step) };
          }),
        ),
      ),
    );
    if (due.length < atOnce) return;
  }
}
