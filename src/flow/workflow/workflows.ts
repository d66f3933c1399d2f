import type { RateLimits } from '../../core/execution/limits.ts';
import type { Db } from '../../store/connection/database.ts';
import type { Pipelines } from '../../store/connection/pipeline.ts';
import { releaseSteps } from '../../store/workflow/workflow-steps.ts';
import type { Admission } from '../admission/admit.ts';
import type { Canceler } from '../execution/cancel.ts';
import { createWorkflowCanceler, type WorkflowCanceler } from './cancel-workflow.ts';
import type { EndedWorkflowRun, OnProgress, ProgressDeps } from './progress.ts';
import { createWorkflowStarter, type WorkflowStarter } from './start-workflow.ts';
import { endOverdueWorkflowRuns, stopExecutions, sweepWorkflows } from './sweep-workflows.ts';
import { createStepTaker } from './take-steps.ts';

/** Workflows in one process: what starts, carries on and ends their runs, put together. */
export interface Workflows {
  readonly starter: WorkflowStarter;
  readonly canceler: WorkflowCanceler;
  /** What is to be done after a transaction in which runs went on. */
  readonly onProgress: OnProgress;
  sweep(): Promise<void>;
  endOverdueWorkflowRuns(): Promise<void>;
  /** Waits until nothing is under way here. */
  idle(): Promise<void>;
}

export interface WorkflowDeps extends ProgressDeps {
  readonly db: Db;
  /** For starts, of which many go together. */
  readonly pipelines: Pipelines;
  /** For what concerns one run alone. */
  readonly singlePipelines: Pipelines;
  readonly admission: Pick<Admission, 'admit'>;
  readonly canceler: Canceler;
  readonly testingLimits: RateLimits;
  /** Told of each run that ended, once that is committed. */
  readonly onEnded: (run: EndedWorkflowRun) => void;
  readonly onError: (error: unknown) => void;
}

export function createWorkflows(deps: WorkflowDeps): Workflows {
  const stops = new Set<Promise<void>>();
  const onProgress: OnProgress = ({ ready, ended, stopping }) => {
    for (const one of ended) {
      deps.memory.forget(one.runId);
      deps.onEnded(one);
    }
    taker.take(ready);
    if (stopping.length === 0) return;
    const stop = stopExecutions(deps, stopping).catch(deps.onError);
    stops.add(stop);
    void stop.finally(() => stops.delete(stop));
  };
  const single = { ...deps, pipelines: deps.singlePipelines, onProgress };
  const taker = createStepTaker({
    ...single,
    giveBack: (steps) => releaseSteps(deps.db, steps),
  });
  const starter = createWorkflowStarter({ ...deps, onProgress });
  return {
    starter,
    canceler: createWorkflowCanceler(single),
    onProgress,
    sweep: () => sweepWorkflows({ ...single, taker }),
    endOverdueWorkflowRuns: () => endOverdueWorkflowRuns(single),
    async idle() {
      await starter.idle();
      await Promise.all(stops);
      await taker.idle();
    },
  };
}
