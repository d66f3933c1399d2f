import type { RateLimits } from '../../../core/agent/limits.ts';
import type { Compute } from '../../../core/compute.ts';
import type { Db } from '../../../db/database.ts';
import type { Notifications } from '../../../db/notifications.ts';
import type { Pipelines } from '../../../db/pipeline.ts';
import type { Admission } from '../../../engine/admit/admit.ts';
import type {
  EndedWorkflowRun,
  Progress,
  ProgressDeps,
  Progressed,
} from '../../../engine/advance/plan-progress.ts';
import { releaseSteps } from '../../../engine/advance/workflow-steps.ts';
import type { Canceler } from '../../../engine/complete/cancel.ts';
import { createStepAdmission } from './admit-steps.ts';
import { canceled, endWorkflowRun } from './end-workflow-run.ts';
import { createWorkflowStarter, type WorkflowStarter } from './start-workflow.ts';
import { endOverdueWorkflowRuns, stopExecutions, sweepWorkflows } from './sweep-workflows.ts';

/** The workflow engine of one process: starts, advances, sweeps and cancels workflow runs. */
export interface Workflows {
  readonly starter: WorkflowStarter;
  readonly canceler: {
    /** False if the workflow run has already ended. */
    cancel(runId: string): Promise<boolean>;
  };
  /** Acts after a commit in which workflow runs advanced. */
  readonly progressed: Progressed;
  sweep(): Promise<void>;
  endOverdueWorkflowRuns(): Promise<void>;
  /** Resolves once nothing is in progress here. */
  idle(): Promise<void>;
}

export interface WorkflowDeps extends ProgressDeps {
  readonly db: Db;
  /** For starts, which are batched. */
  readonly pipelines: Pipelines;
  /** For transactions of a single workflow run. */
  readonly singlePipelines: Pipelines;
  readonly compute: Compute;
  readonly admission: Pick<Admission, 'admit'>;
  readonly canceler: Canceler;
  readonly testingLimits: RateLimits;
  readonly notifications: Pick<Notifications, 'publish' | 'subscribe'>;
  readonly onEnded: (run: EndedWorkflowRun) => void;
  /** A workflow run failed because of a defect. */
  readonly onFault: (error: Error) => void;
  readonly onError: (error: unknown) => void;
}

export function createWorkflows(workflowDeps: WorkflowDeps): Workflows {
  const stops = new Set<Promise<void>>();
  const progressed: Progressed = (progress, eventsQueued = false) => {
    const { ready, stopping, learned, faults } = progress;
    for (const [runId, values] of learned) deps.values.add(runId, values);
    publishProgress(deps, progress);
    if (eventsQueued) deps.notifications.publish('cueline_event_queued');
    for (const fault of faults) deps.onFault(fault);
    stepAdmission.admit(ready);
    if (stopping.length === 0) return;
    const stop = stopExecutions(deps, stopping).catch(deps.onError);
    stops.add(stop);
    void stop.finally(() => stops.delete(stop));
  };
  const deps = { ...workflowDeps, progressed };
  const single = { ...deps, pipelines: deps.singlePipelines };
  const stepAdmission = createStepAdmission({
    ...single,
    releaseSteps: (steps) => releaseSteps(deps.db, steps),
  });
  const starter = createWorkflowStarter(deps);
  deps.notifications.subscribe('cueline_workflow_run_ended', (runIds) =>
    runIds.forEach(deps.values.forget),
  );
  return {
    starter,
    canceler: { cancel: (runId) => endWorkflowRun(single, runId, canceled) },
    progressed,
    sweep: () => sweepWorkflows({ ...single, stepAdmission }),
    endOverdueWorkflowRuns: () => endOverdueWorkflowRuns(single),
    async idle() {
      await starter.idle();
      await Promise.all(stops);
      await stepAdmission.idle();
    },
  };
}

function publishProgress(
  { notifications, onEnded }: WorkflowDeps,
  { learned, ended }: Progress,
): void {
  const over = new Set(ended.map(({ runId }) => runId));
  notifications.publish('cueline_workflow_run_ended', [...over]);
  const advanced = [...learned.keys()].filter((runId) => !over.has(runId));
  notifications.publish('cueline_workflow_run_advanced', advanced);
  for (const run of ended) onEnded(run);
}
