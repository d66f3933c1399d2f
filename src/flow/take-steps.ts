import type { ExecuteCall } from '../core/admission.ts';
import { noLimits } from '../core/limits.ts';
import { readVariables } from '../core/variables.ts';
import type { Db } from '../store/db.ts';
import type { Pipelines } from '../store/pipeline.ts';
import { postponeSteps } from '../store/workflow-steps.ts';
import type { Admission, Admitted } from './admit.ts';
import type { EventOfRun, OnProgress, ProgressParts, ReadyStep } from './progress.ts';
import { settleSteps } from './settle-steps.ts';

/**
 * Calls the agents of steps that are ready, through the one admission. What is lost here on the way (a process that dies,
 * a database that is away) stays ready, and whoever sweeps takes it again.
 */
export interface StepTaker {
  take(steps: readonly ReadyStep[]): void;
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

export function createStepTaker(parts: TakerParts): StepTaker {
  const taking = new Set<Promise<void>>();
  return {
    take(steps) {
      for (const [, own] of Map.groupBy(steps, ({ runId }) => runId)) {
        const one = takeOfRun(parts, own).catch(parts.onError);
        taking.add(one);
        void one.finally(() => taking.delete(one));
      }
    },
    async idle() {
      while (taking.size > 0) await Promise.all(taking);
    },
  };
}

async function takeOfRun(parts: TakerParts, steps: readonly ReadyStep[]): Promise<void> {
  const refused: EventOfRun[] = [];
  const postponed: (ReadyStep & { delayMs: number })[] = [];
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
        postponed.push({ ...step, delayMs: retryAfterMs(answer) });
        return;
      }
      const { runId, step: name, item, fallback } = step;
      const outcome = { kind: 'failed', code: answer.code, error: answer.message } as const;
      refused.push({ runId, step: name, item, fallback, executionId: null, outcome });
    }),
  );
  if (postponed.length > 0) await postponeSteps(parts.db, postponed);
  if (refused[0]) await settleSteps(parts, refused[0].runId, refused);
}

/** A workflow calls as itself: whoever saved it saw the agents, and whoever started it had to be let. */
function callOf(step: ReadyStep): ExecuteCall {
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

function retryAfterMs({ fields }: Extract<Admitted, { kind: 'refused' }>): number {
  const { retryAfter } = fields as { retryAfter?: number };
  return (retryAfter ?? 1) * 1_000;
}
