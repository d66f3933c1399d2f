import type { ExecuteCall } from '../core/admission.ts';
import { noLimits } from '../core/limits.ts';
import { readVariables } from '../core/variables.ts';
import type { Db } from '../store/db.ts';
import type { Pipelines } from '../store/pipeline.ts';
import { type DueStep, giveBackSteps } from '../store/workflow-steps.ts';
import type { Admission } from './admit.ts';
import type { EventOfRun, OnProgress, ProgressParts } from './progress.ts';
import { settleSteps } from './settle-steps.ts';

/**
 * Calls the agents of steps that are ready, through the one admission. What is lost here on the way (a process that dies,
 * a database that is away) stays ready, and whoever sweeps takes it again.
 */
export interface StepTaker {
  take(steps: readonly DueStep[]): void;
  /** How much more it would take now: what goes beyond that stays ready, and whoever sweeps takes it. */
  room(): { readonly steps: number; readonly chars: number };
  /** Waits until nothing is being taken. */
  idle(): Promise<void>;
}

export interface TakerParts extends ProgressParts {
  readonly db: Db;
  readonly pipelines: Pipelines;
  readonly admission: Pick<Admission, 'admit'>;
  readonly onProgress: OnProgress;
  readonly onError: (error: unknown) => void;
}

/** What is being taken at once in a process. */
const stepsMax = 5_000;
const charsMax = 33_554_432;

export function createStepTaker(parts: TakerParts): StepTaker {
  const taking = new Set<Promise<void>>();
  let steps = 0;
  let chars = 0;

  function fits(step: DueStep): boolean {
    if (steps >= stepsMax || chars >= charsMax) return false;
    steps++;
    chars += step.variables.length;
    return true;
  }

  function taken(own: readonly DueStep[], one: Promise<void>): void {
    taking.delete(one);
    steps -= own.length;
    for (const { variables } of own) chars -= variables.length;
  }

  return {
    take(given) {
      for (const [, own] of Map.groupBy(given.filter(fits), ({ runId }) => runId)) {
        const one = takeOfRun(parts, own).catch(parts.onError);
        taking.add(one);
        void one.finally(() => taken(own, one));
      }
    },
    room: () => ({ steps: Math.max(0, stepsMax - steps), chars: Math.max(0, charsMax - chars) }),
    async idle() {
      while (taking.size > 0) await Promise.all(taking);
    },
  };
}

async function takeOfRun(parts: TakerParts, steps: readonly DueStep[]): Promise<void> {
  const refused: EventOfRun[] = [];
  const noRoom: DueStep[] = [];
  await Promise.all(
    steps.map(async (step) => {
      const answer = await parts.admission.admit(callOf(step)).catch((error: unknown) => {
        parts.onError(error);
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
  if (noRoom.length > 0) await giveBackSteps(parts.db, noRoom);
  if (refused[0]) await settleSteps(parts, refused[0].runId, refused);
}

/** A workflow calls as itself: whoever saved it saw the agents, and whoever started it had to be let. */
function callOf(step: DueStep): ExecuteCall {
  const { runId, step: name, item, workflowId, workspaceId, executedBy, apiKeyId } = step;
  return {
    credential: {
      kind: 'workflow',
      step: { runId, step: name, item },
      apiKeyId,
      caller: {
        kind: 'workflow',
        id: workflowId,
        workspaceId,
        userId: executedBy,
        role: 'owner',
        rights: ['execute'],
        ended: false,
        allAgents: true,
        agentIds: [],
        limits: noLimits,
        allowedOrigins: [],
      },
    },
    agentId: step.agentId,
    body: readVariables(step.variables),
    idempotencyKey: null,
    idempotencyComplaint: null,
    ipAddress: null,
    userAgent: null,
  };
}
