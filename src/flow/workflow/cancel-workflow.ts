import type { Pipelines } from '../../store/connection/pipeline.ts';
import { endWorkflowRun } from './end-workflow-run.ts';
import type { OnProgress } from './progress.ts';

/** Cancels workflow runs. */
export interface WorkflowCanceler {
  /** False if the workflow run has already ended. */
  cancel(runId: string): Promise<boolean>;
}

const canceled = {
  status: 'canceled',
  errorCode: 'CANCELED',
  error: 'The workflow run was canceled.',
  failedStep: null,
} as const;

export function createWorkflowCanceler(deps: {
  readonly pipelines: Pipelines;
  readonly onProgress: OnProgress;
}): WorkflowCanceler {
  return { cancel: (runId) => endWorkflowRun(deps, runId, canceled) };
}
