import { callable } from '../../../core/agent/agent.ts';
import {
  agentLimits,
  peekWindows,
  type RateLimits,
  stageLimits,
  tightest,
} from '../../../core/agent/limits.ts';
import type { Db } from '../../../db/database.ts';
import type { Pipelines } from '../../../db/pipeline.ts';
import type { Progressed } from '../../../engine/advance/plan-progress.ts';
import { type Stopping, tryLockWorkflowRuns } from '../../../engine/advance/workflow-progress.ts';
import {
  claimDueSteps,
  claimDueStops,
  type DueAgentRow,
  findDueAgents,
  listOverdueRuns,
  markStopped,
} from '../../../engine/advance/workflow-steps.ts';
import type { Canceler } from '../../../engine/complete/cancel.ts';
import { runAll } from '../../../engine/transaction/paced-transactions.ts';
import type { StepAdmission } from './admit-steps.ts';
import { deadlineExceeded, endWorkflowRun } from './end-workflow-run.ts';

/**
 * Finds work on workflow runs that no commit triggers any more: ready steps whose process died or that waited for a
 * limit, executions of ended workflow runs that still run, and workflow runs past their deadline.
 */
export interface SweepDeps {
  readonly db: Db;
  readonly pipelines: Pipelines;
  readonly stepAdmission: Pick<StepAdmission, 'admit' | 'room'>;
  readonly canceler: Canceler;
  readonly progressed: Progressed;
  /** The caps of agents in the Testing stage. */
  readonly testingLimits: RateLimits;
}

const batchMax = 200;
/** Variables of the steps of one batch. */
const batchBytesMax = 8_388_608;
/** Agents per sweep. The next sweep takes the others. */
const agentsMax = 1_000;

export async function sweepWorkflows(deps: SweepDeps): Promise<void> {
  const stopRemaining = async () => stopExecutions(deps, await claimDueStops(deps.db, batchMax));
  await runAll([stopRemaining, () => claimDue(deps)]);
}

/** Separate from the sweep, because workflow runs end one after the other and steps must not wait for that. */
export async function endOverdueWorkflowRuns(
  deps: Pick<SweepDeps, 'db' | 'pipelines' | 'progressed'>,
): Promise<void> {
  const overdue = await listOverdueRuns(deps.db, batchMax);
  // One that another process is ending is skipped.
  const end = (runId: string) => endWorkflowRun(deps, runId, deadlineExceeded, tryLockWorkflowRuns);
  await runAll(overdue.map((runId) => () => end(runId)));
}

/** Cancels executions of ended workflow runs. Those that ended on their own are only marked. */
export async function stopExecutions(
  deps: Pick<SweepDeps, 'db' | 'canceler'>,
  stopping: readonly Stopping[],
): Promise<void> {
  if (stopping.length === 0) return;
  const canceled = await deps.canceler.cancelAll(stopping.map(({ executionId }) => executionId));
  const ended = stopping.filter((_, at) => !canceled[at]);
  if (ended.length > 0) await markStopped(deps.db, ended);
}

/**
 * Takes due steps of each agent, only as many as its rate limits allow: admission would refuse the others. In each batch
 * all agents get equal shares, and agents that were served move to the end.
 */
async function claimDue(deps: SweepDeps): Promise<void> {
  const due = await findDueAgents(deps.db, agentsMax);
  const waiting = new Map(
    due.map((agent) => [
      agent.agentId,
      { ...agent, remaining: allowedSteps(agent, deps.testingLimits) },
    ]),
  );
  for (;;) {
    const shares = sharesOf([...waiting.values()], deps.stepAdmission.room);
    if (shares.length === 0) return;
    const steps = await claimDueSteps(deps.db, shares, {
      stepsMax: Math.max(batchMax, shares.length),
      bytesMax: Math.min(batchBytesMax, Math.max(...shares.map(({ chars }) => chars))),
    });
    const claimed = Map.groupBy(steps, (step) => step.agentId);
    for (const { agentId } of shares) {
      const agent = waiting.get(agentId);
      const count = claimed.get(agentId)?.length ?? 0;
      waiting.delete(agentId);
      if (agent && count > 0) {
        waiting.set(agentId, { ...agent, remaining: agent.remaining - count });
      }
    }
    deps.stepAdmission.admit(steps);
  }
}

/** How many steps of each agent the next batch takes: equal shares, within the room of each workspace. */
function sharesOf(
  agents: readonly (DueAgentRow & { remaining: number })[],
  roomOf: StepAdmission['room'],
) {
  const rooms = new Map(
    agents.map(({ workspaceId }) => [workspaceId, { ...roomOf(workspaceId ?? '') }]),
  );
  const eligible = agents.flatMap(({ agentId, workspaceId, remaining }) => {
    const room = rooms.get(workspaceId);
    const fits = room && remaining > 0 && room.steps > 0 && room.chars > 0;
    return fits ? [{ agentId, remaining, room }] : [];
  });
  const share = Math.max(1, Math.floor(batchMax / eligible.length));
  return eligible.flatMap(({ agentId, remaining, room }) => {
    const stepsMax = Math.min(remaining, share, room.steps);
    room.steps -= stepsMax;
    return stepsMax > 0 ? [{ agentId, stepsMax, chars: room.chars }] : [];
  });
}

/** An estimate: admission decides. It only avoids calls that admission would refuse. */
function allowedSteps(agent: DueAgentRow, testingLimits: RateLimits): number {
  const { stage, archived, apiEnabled, counts, nowMs } = agent;
  if (stage === null || counts === null) return Number.POSITIVE_INFINITY;
  // Such steps fail permanently, so their fallbacks must not wait for limits.
  const isCallable = callable({
    ...{ stage, archived: archived === true, apiEnabled: apiEnabled === true },
  });
  if (!isCallable) return Number.POSITIVE_INFINITY;
  const limits = agentLimits(agent, stageLimits(stage, testingLimits));
  return tightest(peekWindows(counts, limits, nowMs))?.remaining ?? Number.POSITIVE_INFINITY;
}
