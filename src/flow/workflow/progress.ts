import { setImmediate } from 'node:timers/promises';
import { fromId, toId } from '../../core/id.ts';
import { type Advance, advance } from '../../core/workflow/advance.ts';
import { type ConditionJudge, conditionJudge } from '../../core/workflow/condition-judge.ts';
import type { WorkflowDefinition } from '../../core/workflow/definition.ts';
import { documentOf } from '../../core/workflow/document.ts';
import type { RunState, RunValues, Unread } from '../../core/workflow/run-state.ts';
import {
  agentOfStep,
  failed,
  isOver,
  type RunEnd,
  type StepEvent,
  type StepState,
} from '../../core/workflow/step-state.ts';
import type { Send } from '../../store/connection/pipeline.ts';
import type {
  ProgressWrites,
  RunAtProgress,
  Stopping,
  WorkflowRunStepState,
  WrittenStep,
} from '../../store/workflow/workflow-progress.ts';
import type { WorkflowRunSteps } from '../../store/workflow/workflow-progress-read.ts';
import type { DueStep } from '../../store/workflow/workflow-steps.ts';
import { asItemFaults, ItemFault } from '../admission/retry-transaction.ts';
import type { Definitions } from './definition-cache.ts';
import { createCharBudget, type ReadOfRun, loadMissingValues } from './load-missing-values.ts';
import { merged, type ValueCache } from './value-cache.ts';

/**
 * What follows where steps of runs have ended or were refused: what is to be written in the same transaction, and what
 * is to be done once that is committed.
 */

export interface EndedWorkflowRun {
  readonly runId: string;
  readonly workflowId: string;
  readonly end: RunEnd;
}

/** What came of it: steps to call, runs that are over, executions to stop. */
export interface Progress {
  readonly ready: readonly DueStep[];
  readonly ended: readonly EndedWorkflowRun[];
  readonly stopping: readonly Stopping[];
}

export type OnProgress = (progress: Progress) => void;

export type WorkflowRunEvent = StepEvent & { readonly runId: string };

export interface PlannedProgress extends Omit<Progress, 'stopping'> {
  readonly writes: ProgressWrites;
  /** To be called once that is committed. */
  readonly committed: () => void;
}

export interface ProgressDeps {
  readonly definitions: Definitions;
  readonly memory: ValueCache;
  /** Told why a run of a workflow was given up, once that is committed. */
  readonly onFault: (error: Error) => void;
}

/** Runs that are locked, and where they stand; of runs that have just begun also what they hold. */
export interface RunsAtProgress {
  readonly runs: readonly RunAtProgress[];
  readonly steps: WorkflowRunSteps;
  /** Whether something else is in their transaction, and could be without them, or without some of them. */
  readonly together: boolean;
  readonly given?: ReadonlyMap<string, RunValues>;
  /** Why the database takes nothing of what follows for them, where that was found out: they are given up. */
  readonly unwritable?: Error | null;
}

/** Under the lock of the runs. Reads more only where a run refers to what this process does not know of it. */
export async function planProgress(
  deps: ProgressDeps,
  send: Send,
  { runs, steps, together, given, unwritable = null }: RunsAtProgress,
  events: readonly WorkflowRunEvent[],
): Promise<PlannedProgress> {
  const rowsOf = Map.groupBy(steps.rows, ({ runId }) => runId);
  const itemsOf = Map.groupBy(steps.items, ({ runId }) => runId);
  const eventsOf = Map.groupBy(events, ({ runId }) => runId);
  const planned: Planned = { steps: [], ready: [], ended: [], faults: [], learned: new Map() };
  const goingOn: GoingOn[] = [];
  for (const run of runs) {
    const own = eventsOf.get(run.id) ?? [];
    const rows = rowsOf.get(run.id) ?? [];
    if (run.status !== 'processing') {
      planned.steps.push(...stopped(rows, own));
      continue;
    }
    const definition = await deps.definitions(send, run.workflow_version_id);
    const items = new Map((itemsOf.get(run.id) ?? []).map((one) => [one.step, one]));
    const values = given?.get(run.id) ?? deps.memory.of(run.id);
    const state = { values, rows, items, outputChars: new Map() };
    goingOn.push({ run, definition, state, events: own, judge: null, unwritable });
  }
  const planning = planRuns(deps, send, goingOn, { planned, together });
  await (together ? asItemFaults(planning) : planning);
  const { steps: changed, ready, ended, faults, learned } = planned;
  const committed = () => {
    for (const [runId, values] of learned) deps.memory.add(runId, values);
    faults.forEach(deps.onFault);
  };
  return { writes: { steps: changed, ends: ended }, ready, ended, committed };
}

/** How long runs go on one after the other before others have their turn. */
const breathMs = 50;
/** How long the runs of one transaction may take: others wait for its locks, and the database for its end. */
const togetherMsMax = 2_000;

interface Planned {
  readonly steps: WrittenStep[];
  readonly ready: DueStep[];
  readonly ended: EndedWorkflowRun[];
  readonly faults: Error[];
  readonly learned: Map<string, RunValues>;
}

interface GoingOn {
  readonly run: RunAtProgress;
  readonly definition: WorkflowDefinition;
  readonly state: RunState;
  readonly events: readonly WorkflowRunEvent[];
  /** Once it lacks something: the time that conditions have is that of the whole advance. */
  readonly judge: ConditionJudge | null;
  readonly unwritable: Error | null;
}

type Advanced = Extract<Advance, { kind: 'advanced' }>;

interface Lacking {
  readonly one: GoingOn;
  readonly unread: Unread;
}

/** Each turn needs something more of a run, and no run needs so much. */
const turnsMax = 200;

/** What runs lack is read for all of them at once: the others of the batch wait meanwhile, and their locks are held. */
async function planRuns(
  { memory }: ProgressDeps,
  send: Send,
  goingOn: readonly GoingOn[],
  { planned, together }: { readonly planned: Planned; readonly together: boolean },
): Promise<void> {
  let left = goingOn;
  const hold = together ? createCharBudget() : null;
  const begun = performance.now();
  let since = begun;
  for (let turn = 0; turn < turnsMax && left.length > 0; turn++) {
    const lacking: Lacking[] = [];
    for (const one of left) {
      // What one run takes is bounded; a batch of such runs must not hold up the heartbeat.
      if (performance.now() - since > breathMs) {
        await setImmediate();
        since = performance.now();
        if (together && since - begun > togetherMsMax) {
          throw new ItemFault('these runs take too long to go on together');
        }
      }
      const judge = one.judge ?? conditionJudge();
      const result = advanceRun(one, judge);
      if (result.kind === 'advanced') {
        hold?.(charsOf(result));
        planRun(one, result, planned);
      } else lacking.push({ one: { ...one, judge }, unread: result.unread });
    }
    const asked = lacking.map(({ one, unread }) => ({ runId: one.run.id, unread }));
    const read = await loadMissingValues(send, asked, hold);
    left = lacking.map(({ one }, at) => withMore(one, read[at] as ReadOfRun));
  }
  for (const one of left) planRun(one, givenUp(one, 'it lacks what it refers to'), planned);

  function advanceRun(one: GoingOn, judge: ConditionJudge): Advance {
    const { definition, state, events, unwritable } = one;
    if (unwritable) return givenUp(one, unwritable);
    try {
      return advance(definition, state, events, judge);
    } catch (error) {
      return givenUp(one, error);
    }
  }

  /** A fault of ours. The run ends with it: else its models would be called again and again, up to its deadline. */
  function givenUp({ run, state, events }: GoingOn, cause: unknown): Advanced {
    planned.faults.push(new Error(`${toId('workflowRun', run.id)} cannot go on`, { cause }));
    const error = 'The server could not carry the run on.';
    const end = { status: 'failed', errorCode: 'INTERNAL', error, failedStep: null } as const;
    return { kind: 'advanced', changed: settled(state, events), end };
  }

  function withMore(one: GoingOn, read: ReadOfRun): GoingOn {
    const { run, state } = one;
    memory.add(run.id, read.values);
    const values = merged(state.values, read.values);
    const rows = [...state.rows, ...read.rows];
    const outputChars = new Map([...state.outputChars, ...read.outputChars]);
    return { ...one, state: { ...state, values, rows, outputChars } };
  }
}

/** What is to be written of it. */
function charsOf({ changed, end }: Advanced): number {
  const values = changed.flatMap(({ variables, items, output }) => [variables, items, output]);
  if (end?.status === 'success') values.push(end.output);
  return values.reduce((sum, value) => sum + (value?.length ?? 0), 0);
}

function planRun(
  { run, definition, state }: GoingOn,
  { changed, end }: Advanced,
  planned: Planned,
): void {
  planned.learned.set(run.id, merged(state.values, valuesOf(changed)));
  // What later steps may refer to goes with the end of the run.
  const left = end === null ? {} : { output: null, items: null };
  for (const step of changed) {
    const written = { ...step, ...left, runId: run.id };
    if (step.status === 'ready') {
      const ready = readyStep(definition, run, written);
      planned.ready.push(ready);
      planned.steps.push({ ...written, agentId: ready.agentId });
    } else planned.steps.push(written);
  }
  if (end !== null) planned.ended.push({ runId: run.id, workflowId: run.workflow_id, end });
}

/** What steps have put out and fan out over, of those that have changed. */
function valuesOf(changed: readonly StepState[]): RunValues {
  const own = changed.filter(({ item }) => item < 0);
  return {
    input: null,
    outputs: new Map(
      own.flatMap(({ step, output }) => (output === null ? [] : [[step, documentOf(output)]])),
    ),
    lists: new Map(
      own.flatMap(({ step, items }) => (items === null ? [] : [[step, documentOf(items)]])),
    ),
  };
}

/** What came of the calls that have just ended, and nothing that would follow from it. */
function settled({ rows }: RunState, events: readonly WorkflowRunEvent[]): StepState[] {
  return events.flatMap(({ step, item, executionId, outcome }) => {
    const row = rows.find((one) => one.step === step && one.item === item);
    if (!row || row.executionId !== executionId || isOver(row)) return [];
    return outcome.kind === 'success' ? { ...row, status: 'success' } : failed(row, outcome);
  });
}

/** The run is over: all that is left to learn is that an execution has stopped. */
function stopped(
  steps: readonly WorkflowRunStepState[],
  events: readonly WorkflowRunEvent[],
): WorkflowRunStepState[] {
  const ended = new Set(events.map(({ executionId }) => executionId));
  return steps
    .filter(({ status, executionId }) => status === 'canceling' && ended.has(executionId))
    .map((step) => ({ ...step, status: 'canceled' }));
}

function readyStep(
  definition: WorkflowDefinition,
  run: RunAtProgress,
  step: WorkflowRunStepState,
): DueStep {
  const declared = definition.steps.find(({ name }) => name === step.step);
  const agentId = declared && fromId('agent', agentOfStep(declared, step.fallback));
  return {
    runId: run.id,
    step: step.step,
    item: step.item,
    fallback: step.fallback,
    variables: step.variables ?? '{}',
    agentId: agentId ?? nobody,
    workspaceId: run.workspace_id,
    workflowId: run.workflow_id,
    apiKeyId: run.api_key_id,
    executedBy: run.executed_by,
  };
}

/** Where what is written there is no identifier: whoever is called so is unknown. */
const nobody = '00000000-0000-0000-0000-000000000000';
