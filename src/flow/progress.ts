import { type Advance, advance } from '../core/advance.ts';
import { fromId } from '../core/id.ts';
import { agentOfStep, type RunEnd, type StepEvent } from '../core/step-state.ts';
import type { WorkflowDefinition } from '../core/workflow.ts';
import type { Send } from '../store/pipeline.ts';
import {
  type ProgressWrites,
  type RunAtProgress,
  readSteps,
  type StepOfRun,
  type Stopping,
} from '../store/workflow-progress.ts';
import type { DueStep } from '../store/workflow-steps.ts';
import type { Definitions } from './definitions.ts';

/**
 * What follows where steps of runs have ended or were refused: what is to be written in the same transaction, and what
 * is to be done once that is committed.
 */

/** A step that is ready, and the agent that it calls; null where what is written there is no identifier. */
export type ReadyStep = DueStep & { readonly agentId: string | null };

export interface EndedWorkflowRun {
  readonly runId: string;
  readonly workflowId: string;
  readonly end: RunEnd;
}

/** What came of it: steps to call, runs that are over, executions to stop. */
export interface Progress {
  readonly ready: readonly ReadyStep[];
  readonly ended: readonly EndedWorkflowRun[];
  readonly stopping: readonly Stopping[];
}

export type OnProgress = (progress: Progress) => void;

export type EventOfRun = StepEvent & { readonly runId: string };

export interface PlannedProgress extends Omit<Progress, 'stopping'> {
  readonly writes: ProgressWrites;
}

/** Under the lock of the runs. Reads again only where a list is complete and its outputs were left out. */
export async function planProgress(
  definitions: Definitions,
  send: Send,
  state: { readonly runs: readonly RunAtProgress[]; readonly steps: readonly StepOfRun[] },
  events: readonly EventOfRun[],
): Promise<PlannedProgress> {
  const stepsOf = Map.groupBy(state.steps, ({ runId }) => runId);
  const eventsOf = Map.groupBy(events, ({ runId }) => runId);
  const planned: Planned = { steps: [], ready: [], ended: [] };
  for (const run of state.runs) {
    const own = eventsOf.get(run.id) ?? [];
    const steps = stepsOf.get(run.id) ?? [];
    if (run.status !== 'processing') planned.steps.push(...stopped(steps, own));
    else await planRun(definitions, send, { run, steps, events: own }, planned);
  }
  const { steps, ready, ended } = planned;
  return { writes: { steps, ends: ended }, ready, ended };
}

interface Planned {
  readonly steps: StepOfRun[];
  readonly ready: ReadyStep[];
  readonly ended: EndedWorkflowRun[];
}

async function planRun(
  definitions: Definitions,
  send: Send,
  {
    run,
    steps,
    events,
  }: { run: RunAtProgress; steps: readonly StepOfRun[]; events: readonly EventOfRun[] },
  planned: Planned,
): Promise<void> {
  const definition = await definitions(send, run.workflow_version_id);
  let result: Advance = advance(definition, run.input, steps, events);
  if (result.kind === 'unread') {
    const whole = await readSteps(send, [run.id], { endingIds: [], whole: true });
    result = advance(definition, run.input, whole, events);
  }
  if (result.kind === 'unread') throw new Error('outputs of items are missing');
  const { changed, end } = result;
  // What later steps may refer to goes with the end of the run.
  const left = end === null ? {} : { output: null, items: null };
  planned.steps.push(...changed.map((step) => ({ ...step, ...left, runId: run.id })));
  if (end !== null) planned.ended.push({ runId: run.id, workflowId: run.workflow_id, end });
  for (const step of changed) {
    if (step.status === 'ready')
      planned.ready.push(readyStep(definition, run, { ...step, runId: run.id }));
  }
}

/** The run is over: all that is left to learn is that an execution has stopped. */
function stopped(steps: readonly StepOfRun[], events: readonly EventOfRun[]): StepOfRun[] {
  const ended = new Set(events.map(({ executionId }) => executionId));
  return steps
    .filter(({ status, executionId }) => status === 'canceling' && ended.has(executionId))
    .map((step) => ({ ...step, status: 'canceled' }));
}

function readyStep(definition: WorkflowDefinition, run: RunAtProgress, step: StepOfRun): ReadyStep {
  return {
    runId: run.id,
    step: step.step,
    item: step.item,
    fallback: step.fallback,
    variables: step.variables ?? '{}',
    workspaceId: run.workspace_id,
    workflowId: run.workflow_id,
    workflowVersionId: run.workflow_version_id,
    apiKeyId: run.api_key_id,
    executedBy: run.executed_by,
    agentId: agentIdOf(definition, step),
  };
}

/** The stored id of the agent that a ready step calls. */
export function agentIdOf(
  definition: WorkflowDefinition,
  { step: name, fallback }: Pick<DueStep, 'step' | 'fallback'>,
): string | null {
  const step = definition.steps.find((one) => one.name === name);
  return step ? fromId('agent', agentOfStep(step, fallback)) : null;
}
