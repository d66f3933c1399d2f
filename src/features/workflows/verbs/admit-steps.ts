import { readVariables } from '../../../core/agent/variables.ts';
import type { ExecuteCall } from '../../../core/execution/decide.ts';
import { storedLabels } from '../../../core/labels.ts';
import { workflowCaller } from '../../../core/people/caller.ts';
import type { Notifications } from '../../../db/notifications.ts';
import type { Pipelines } from '../../../db/pipeline.ts';
import type { Admission } from '../../../engine/admit/admit.ts';
import type {
  ProgressDeps,
  Progressed,
  WorkflowRunEvent,
} from '../../../engine/advance/plan-progress.ts';
import type { DueStep } from '../../../engine/advance/workflow-steps.ts';
import { settleSteps } from './settle-steps.ts';
import { type StepQueue, stepQueue } from './step-queue.ts';

/**
 * Calls the agents of ready steps through the same admission as every other call. If the
 * process dies or the database is unavailable, the step stays ready, and a sweep claims it again.
 */
export interface StepAdmission {
  admit(steps: readonly DueStep[]): void;
  /** How much more of a workspace fits now. What exceeds it is released for a later sweep. */
  room: StepQueue['room'];
  /** Resolves once no call is in progress. */
  idle(): Promise<void>;
}

export interface StepAdmissionDeps extends ProgressDeps {
  readonly pipelines: Pipelines;
  readonly admission: Pick<Admission, 'admit'>;
  readonly notifications: Pick<Notifications, 'publish'>;
  readonly progressed: Progressed;
  /** Releases steps that do not fit now, for a later sweep. */
  readonly releaseSteps: (steps: readonly DueStep[]) => Promise<void>;
  readonly onError: (error: unknown) => void;
  /** A monotonic clock, in milliseconds, for the reservations of steps. */
  readonly nowMs?: () => number;
}

/** Concurrent calls in admission. Other callers must not wait behind them for long. */
const callsMax = 400;

export function createStepAdmission(deps: StepAdmissionDeps): StepAdmission {
  const inProgress = new Set<Promise<void>>();
  const queue = stepQueue(deps.nowMs);
  let calls = 0;

  function startCalls(): void {
    const steps = queue.next(callsMax - calls);
    for (const [, own] of Map.groupBy(steps, ({ runId }) => runId)) {
      calls += own.length;
      track(callSteps(deps, own), () => {
        calls -= own.length;
        queue.done(own);
        startCalls();
      });
    }
  }

  function track(work: Promise<void>, then = () => {}): void {
    const one: Promise<void> = work.catch(deps.onError).then(() => {
      inProgress.delete(one);
      then();
    });
    inProgress.add(one);
  }

  return {
    admit(steps) {
      const excess = steps.filter((step) => !queue.add(step));
      if (excess.length > 0) track(deps.releaseSteps(excess));
      startCalls();
    },
    room: queue.room,
    async idle() {
      while (inProgress.size > 0) await Promise.all(inProgress);
    },
  };
}

/** Calls steps of one workflow run, and settles those that admission refused. */
async function callSteps(deps: StepAdmissionDeps, steps: readonly DueStep[]): Promise<void> {
  const refused: WorkflowRunEvent[] = [];
  const waiting: DueStep[] = [];
  const called: string[] = [];
  await Promise.all(
    steps.map(async (step) => {
      const result = await deps.admission.admit(callOf(step)).catch((error: unknown) => {
        deps.onError(error);
        return null;
      });
      if (result?.kind === 'accepted') called.push(step.runId);
      if (result === null || result.kind === 'accepted') return;
      // The step is not ready any more, see `stepNotReady` in `admit.ts`.
      if (result.code === 'CONFLICT') return;
      const waitsForBudget = result.budget !== undefined && !result.budget.isSpent;
      if (result.code === 'RATE_LIMIT_EXCEEDED' || waitsForBudget) {
        waiting.push(step);
        return;
      }
      const { runId, step: name, item, fallback } = step;
      const code = result.budget?.code ?? result.code;
      const outcome = { kind: 'failed', code, error: result.message } as const;
      refused.push({ runId, step: name, item, fallback, executionId: null, outcome });
    }),
  );
  if (called[0]) deps.notifications.publish('cueline_workflow_run_advanced', [called[0]]);
  if (waiting.length > 0) await deps.releaseSteps(waiting);
  if (refused[0]) await settleSteps(deps, refused[0].runId, refused);
}

function callOf(step: DueStep): ExecuteCall {
  const { runId, step: name, item, fallback, workflowId, workspaceId, executedBy } = step;
  const { apiKeyId, maxCostUsd } = step;
  return {
    credential: {
      kind: 'workflow',
      step: { runId, step: name, item },
      ...{ fallback, apiKeyId, maxCostUsd },
      caller: workflowCaller({ id: workflowId, workspaceId, userId: executedBy }),
    },
    agentId: step.agentId,
    body: readVariables(step.variables, storedLabels(step.labels)),
    idempotencyKey: null,
    idempotencyProblem: null,
    ipAddress: null,
    userAgent: null,
  };
}
