import { callable } from '../../core/agent/agent.ts';
import {
  agentLimits,
  look,
  type RateLimits,
  stageLimits,
  tightest,
} from '../../core/execution/limits.ts';
import type { RunEnd } from '../../core/workflow/step-state.ts';
import type { Db } from '../../store/connection/database.ts';
import type { Pipelines } from '../../store/connection/pipeline.ts';
import { lockFreeRuns, type Stopping } from '../../store/workflow/workflow-progress.ts';
import {
  type DueAgentRow,
  findDueAgents,
  markStopped,
  overdueRuns,
  takeDueSteps,
  takeDueStops,
} from '../../store/workflow/workflow-steps.ts';
import type { Canceler } from '../execution/cancel.ts';
import { inTurn } from '../history/paced-transactions.ts';
import { endWorkflowRun } from './end-workflow-run.ts';
import type { OnProgress } from './progress.ts';
import type { StepTaker } from './take-steps.ts';

/**
 * What nobody sees to by himself any more: steps that are ready though whoever made them so is gone or had to wait for a
 * limit, executions of ended runs that were not stopped, and runs whose deadline has passed.
 */
export interface SweepDeps {
  readonly db: Db;
  readonly pipelines: Pipelines;
  readonly taker: Pick<StepTaker, 'take' | 'room'>;
  readonly canceler: Canceler;
  readonly onProgress: OnProgress;
  /** What the Testing stage caps an agent at. */
  readonly testingLimits: RateLimits;
}

const atOnce = 200;
/** Of their variables, and one step more. */
const bytesAtOnce = 8_388_608;
/** The others have their turn in the next second. */
const agentsMax = 1_000;

export async function sweepWorkflows(deps: SweepDeps): Promise<void> {
  await inTurn([() => stopLeftOver(deps), () => takeDue(deps)]);
}

/** By itself: these are ended one after the other, and steps must not wait for that. */
export async function endOverdueWorkflowRuns(
  deps: Pick<SweepDeps, 'db' | 'pipelines' | 'onProgress'>,
): Promise<void> {
  const failures: unknown[] = [];
  for (const runId of await overdueRuns(deps.db, atOnce)) {
    // One that cannot be ended, or that another process just ends, must not stand in the way of the others.
    await endWorkflowRun(deps, runId, overdue, lockFreeRuns).catch((error: unknown) =>
      failures.push(error),
    );
  }
  if (failures.length > 0) throw failures[0];
}

const overdue: RunEnd = {
  status: 'failed',
  errorCode: 'DEADLINE_EXCEEDED',
  error: 'The run did not end before its deadline.',
  failedStep: null,
};

async function stopLeftOver(deps: SweepDeps): Promise<void> {
  await stopExecutions(deps, await takeDueStops(deps.db, atOnce));
}

/** Stops the executions of ended runs; those that have ended by themselves are only noted. */
export async function stopExecutions(
  deps: Pick<SweepDeps, 'db' | 'canceler'>,
  stopping: readonly Stopping[],
): Promise<void> {
  if (stopping.length === 0) return;
  const canceled = await deps.canceler.cancelAll(stopping.map(({ executionId }) => executionId));
  const over = stopping.filter((_, at) => !canceled[at]);
  if (over.length > 0) await markStopped(deps.db, over);
}

/**
 * Of each agent only as many as its windows have room for: the others would be refused, and wait again. In each turn all
 * agents have equal deps, and those that had theirs stand behind the others.
 */
async function takeDue(deps: SweepDeps): Promise<void> {
  const due = await findDueAgents(deps.db, agentsMax);
  const waiting = new Map(
    due.map((one) => [one.agentId, { ...one, left: roomOf(one, deps.testingLimits) }]),
  );
  for (;;) {
    const some = inRoom([...waiting.values()], deps.taker.room);
    if (some.length === 0) return;
    const steps = await takeDueSteps(deps.db, some, {
      stepsMax: Math.max(atOnce, some.length),
      bytesMax: Math.min(bytesAtOnce, Math.max(...some.map(({ chars }) => chars))),
    });
    const taken = Map.groupBy(steps, (step) => step.agentId);
    for (const { agentId } of some) {
      const one = waiting.get(agentId);
      const length = taken.get(agentId)?.length ?? 0;
      waiting.delete(agentId);
      if (one && length > 0) waiting.set(agentId, { ...one, left: one.left - length });
    }
    deps.taker.take(steps);
  }
}

/** How many steps of each agent are taken in this turn: equal deps, and of a workspace no more than it has room for. */
function inRoom(
  agents: readonly (DueAgentRow & { left: number })[],
  roomOfWorkspace: StepTaker['room'],
) {
  const rooms = new Map(
    agents.map(({ workspaceId }) => [workspaceId, { ...roomOfWorkspace(workspaceId ?? '') }]),
  );
  const able = agents.flatMap(({ agentId, workspaceId, left }) => {
    const room = rooms.get(workspaceId);
    return room && left > 0 && room.steps > 0 && room.chars > 0 ? [{ agentId, left, room }] : [];
  });
  const part = Math.max(1, Math.floor(atOnce / able.length));
  return able.flatMap(({ agentId, left, room }) => {
    const stepsMax = Math.min(left, part, room.steps);
    room.steps -= stepsMax;
    return stepsMax > 0 ? [{ agentId, stepsMax, chars: room.chars }] : [];
  });
}

/** Admission decides; this only keeps away from it what it would refuse. */
function roomOf(agent: DueAgentRow, testingLimits: RateLimits): number {
  const { stage, archived, apiEnabled, counts, nowMs } = agent;
  if (stage === null || counts === null) return Number.POSITIVE_INFINITY;
  // Refused for good, whatever its windows: fallbacks must not wait for them.
  const called = callable({ stage, archived: archived === true, apiEnabled: apiEnabled === true });
  if (!called) return Number.POSITIVE_INFINITY;
  const limits = agentLimits(agent, stageLimits(stage, testingLimits));
  return tightest(look(counts, limits, nowMs))?.remaining ?? Number.POSITIVE_INFINITY;
}
