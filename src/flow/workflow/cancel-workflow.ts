import type { Pipelines } from '../../store/connection/pipeline.ts';
import { endWorkflowRun } from './end-workflow-run.ts';
import type { OnProgress } from './progress.ts';

/** Ends a run of a workflow that is still under way. */
export interface WorkflowCanceler {
  /** False where the run had ended before. */
  cancel(runId: string): Promise<boolean>;
}

export function createWorkflowCanceler(deps: {
  readonly pipelines: Pipelines;
  readonly onProgress: OnProgress;
}): WorkflowCanceler {
  const canceled = {
    status: 'canceled',
    errorCode: 'CANCELED',
    error: 'The run was canceled.',
    failedStep: null,
  } as const;
  return { cancel: (runId) => endWorkflowRun(deps, runId, canceled) };
}
