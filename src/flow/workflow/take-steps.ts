import { readVariables } from '../../core/agent/variables.ts';
import { workflowCaller } from '../../core/execution/caller.ts';
import type { ExecuteCall } from '../../core/execution/decide.ts';
import type { Pipelines } from '../../store/connection/pipeline.ts';
import type { DueStep } from '../../store/workflow/workflow-steps.ts';
import type { Admission } from '../admission/admit.ts';
import type { OnProgress, ProgressDeps, WorkflowRunEvent } from './progress.ts';
import { settleSteps } from './settle-steps.ts';
import { type StepQueue, stepQueue } from './step-queue.ts';

/**
 * Calls the agents of steps that are ready, through the one admission. What is lost here on the way (a process that dies,
 * a database that is away) stays ready, and whoever sweeps takes it again.
 */
export interface StepTaker {
  take(steps: readonly DueStep[]): void;
  /** How much more of a workspace it would take now: what goes beyond that is given back to whoever sweeps. */
  room: StepQueue['room'];
  /** Waits until nothing is being taken. */
  idle(): Promise<void>;
}

export interface StepTakerDeps extends ProgressDeps {
  readonly pipelines: Pipelines;
  readonly admission: Pick<Admission, 'admit'>;
  readonly onProgress: OnProgress;
  /** Steps for which there is no room now: whoever sweeps takes them when there is. */
  readonly giveBack: (steps: readonly DueStep[]) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** How many calls stand in admission at once: others must not wait behind them for long. */
const callsMax = 400;

export function createStepTaker(deps: StepTakerDeps): StepTaker {
  const taking = new Set<Promise<void>>();
  const queue = stepQueue();
  let calls = 0;

  function goOn(): void {
    const steps = queue.next(callsMax - calls);
    for (const [, own] of Map.groupBy(steps, ({ runId }) => runId)) {
      calls += own.length;
      hold(takeOfRun(deps, own), () => {
        calls -= own.length;
        queue.done(own);
        goOn();
      });
    }
  }

  function hold(work: Promise<void>, then = () => {}): void {
    const one: Promise<void> = work.catch(deps.onError).then(() => {
      taking.delete(one);
      then();
    });
    taking.add(one);
  }

  return {
    take(steps) {
      const over = steps.filter((step) => !queue.add(step));
      if (over.length > 0) hold(deps.giveBack(over));
      goOn();
    },
    room: queue.room,
    async idle() {
      while (taking.size > 0) await Promise.all(taking);
    },
  };
}

async function takeOfRun(deps: StepTakerDeps, steps: readonly DueStep[]): Promise<void> {
  const refused: WorkflowRunEvent[] = [];
  const noRoom: DueStep[] = [];
  await Promise.all(
    steps.map(async (step) => {
      const answer = await deps.admission.admit(callOf(step)).catch((error: unknown) => {
        deps.onError(error);
        return null;
      });
      if (answer === null || answer.kind === 'accepted') return;
      // Another process has taken it, or it is to be called no more.
      if (answer.code === 'CONFLICT') return;
      if (answer.code === 'RATE_LIMIT_EXCEEDED') {
        noRoom.push(step);
        return;
      }
      const { runId, step: name, item, fallback } = step;
      const outcome = { kind: 'failed', code: answer.code, error: answer.message } as const;
      refused.push({ runId, step: name, item, fallback, executionId: null, outcome });
    }),
  );
  if (noRoom.length > 0) await deps.giveBack(noRoom);
  if (refused[0]) await settleSteps(deps, refused[0].runId, refused);
}

function callOf(step: DueStep): ExecuteCall {
  const { runId, step: name, item, fallback, workflowId, workspaceId, executedBy, apiKeyId } = step;
  return {
    credential: {
      kind: 'workflow',
      step: { runId, step: name, item },
      fallback,
      apiKeyId,
      caller: workflowCaller({ id: workflowId, workspaceId, userId: executedBy }),
    },
    agentId: step.agentId,
    body: readVariables(step.variables),
    idempotencyKey: null,
    idempotencyComplaint: null,
    ipAddress: null,
    userAgent: null,
  };
}
