import { setImmediate } from 'node:timers/promises';
import type { NewEvent } from '../../core/event/event.ts';
import { workflowRunEvent } from '../../core/event/execution-event.ts';
import { fromId, toId } from '../../core/id.ts';
import { storedLabels } from '../../core/labels.ts';
import { type Advance, advance } from '../../core/workflow/advance.ts';
import { ConditionEvaluator } from '../../core/workflow/condition-evaluator.ts';
import type { WorkflowDefinition } from '../../core/workflow/definition.ts';
import { documentOf } from '../../core/workflow/document.ts';
import type { ChosenItems } from '../../core/workflow/rerun.ts';
import type { MissingRunValues, RunState, RunValues } from '../../core/workflow/run-state.ts';
import {
  agentOfStep,
  failed,
  isOver,
  type RunEnd,
  type StepEvent,
  type StepState,
} from '../../core/workflow/step-state.ts';
import type { Send } from '../../db/pipeline.ts';
import { asItemFaults, ItemFault } from '../transaction/retry-transaction.ts';
import type { Definitions } from './definition-cache.ts';
import { createCharBudget, type LoadedValues, loadMissingValues } from './load-missing-values.ts';
import { merged, type ValueCache } from './value-cache.ts';
import type {
  LockedWorkflowRun,
  ProgressWrites,
  Stopping,
  WorkflowRunStepState,
  WrittenStep,
} from './workflow-progress.ts';
import type { WorkflowRunSteps } from './workflow-progress-read.ts';
import type { DueStep } from './workflow-steps.ts';

/**
 * Workflow progress: after steps ended or were refused, plans what follows for their workflow runs.
 *
 * States of a workflow run: processing, then success, failed or canceled. The states of a step are in
 * ARCHITECTURE.md; `advance` (pure) decides the transitions. This module feeds it with values, and turns
 * its result into rows to write and into actions for after the commit.
 *
 * Steps of the protocol, under the lock of the workflow runs:
 * 1. `advance` runs with what this process has cached (`ValueCache`) and reports missing values;
 * 2. missing values are read for all workflow runs at once, and those runs advance again, up to `roundsMax` times;
 * 3. the caller writes the result in the transaction of the ends, commits, then calls `Progressed`.
 *
 * Invariants:
 * - A workflow run that has ended changes only its canceling steps, once their executions stop.
 * - The cache learns only committed values.
 * - A transaction for several workflow runs reads at most a fixed number of characters and takes a bounded time.
 *   Beyond that it throws `ItemFault` before any write, and each workflow run gets its own transaction.
 *
 * Failure cases: a defect or values that cannot be stored fail the workflow run with `INTERNAL`. Otherwise its models
 * would be called again until its deadline. The ended steps keep their results.
 */

export interface EndedWorkflowRun {
  readonly runId: string;
  readonly workflowId: string;
  readonly end: RunEnd;
  /** The outbound event, if an endpoint may subscribe to it. */
  readonly event?: NewEvent | null;
}

export function endedWorkflowRun(run: LockedWorkflowRun, end: RunEnd): EndedWorkflowRun {
  const { id: runId, workflowId, workspaceId, reportingMs: atMs } = run;
  const errorCode = end.status === 'success' ? null : end.errorCode;
  const ended = { id: runId, workspaceId, workflowId, status: end.status, errorCode };
  const event =
    atMs === null ? null : workflowRunEvent({ ...ended, labels: storedLabels(run.labels), atMs });
  return { runId, workflowId, end, event };
}

/** What follows from a committed transaction: steps to call, workflow runs that ended, executions to stop. */
export interface Progress {
  readonly ready: readonly DueStep[];
  readonly ended: readonly EndedWorkflowRun[];
  readonly stopping: readonly Stopping[];
  /** The values that are committed now, by workflow run. */
  readonly learned: ReadonlyMap<string, RunValues>;
  /** Workflow runs that failed because of a defect. */
  readonly faults: readonly Error[];
}

/** Call it after the commit, with whether outbound events must be sent that nobody else announces. */
export type Progressed = (progress: Progress, eventsQueued?: boolean) => void;

export type WorkflowRunEvent = StepEvent & { readonly runId: string };

export interface PlannedProgress {
  readonly writes: ProgressWrites;
  /** To publish after the commit. */
  readonly progress: Omit<Progress, 'stopping'>;
}

export interface ProgressDeps {
  readonly definitions: Definitions;
  readonly values: ValueCache;
}

/** Locked workflow runs with their steps. */
export interface RunsAtProgress {
  readonly runs: readonly LockedWorkflowRun[];
  readonly steps: WorkflowRunSteps;
  /** Whether others share the transaction, and could go without these workflow runs or some of them. */
  readonly shared: boolean;
  /** The values of workflow runs that have just started. */
  readonly startValues?: ReadonlyMap<string, RunValues>;
  /** Of workflow runs that have just started for some items of a step. */
  readonly chosen?: ReadonlyMap<string, ChosenItems>;
  /** Why the database cannot store what follows: the workflow runs fail. */
  readonly unwritable?: Error | null;
}

export async function planProgress(
  deps: ProgressDeps,
  send: Send,
  { runs, steps, shared, startValues, chosen, unwritable = null }: RunsAtProgress,
  events: readonly WorkflowRunEvent[],
): Promise<PlannedProgress> {
  const rowsOf = Map.groupBy(steps.rows, ({ runId }) => runId);
  const itemsOf = Map.groupBy(steps.items, ({ runId }) => runId);
  const eventsOf = Map.groupBy(events, ({ runId }) => runId);
  const plan: Plan = { steps: [], ready: [], ended: [], faults: [], learned: new Map() };
  const advancing: AdvancingRun[] = [];
  for (const run of runs) {
    const own = eventsOf.get(run.id) ?? [];
    const rows = rowsOf.get(run.id) ?? [];
    if (run.status !== 'processing') {
      plan.steps.push(...canceledSteps(rows, own));
      continue;
    }
    const definition = await deps.definitions(send, run.workflowVersionId);
    const items = new Map((itemsOf.get(run.id) ?? []).map((one) => [one.step, one]));
    const values = startValues?.get(run.id) ?? deps.values.of(run.id);
    const state = {
      ...{ values, rows, items, outputChars: new Map() },
      chosen: chosen?.get(run.id) ?? null,
    };
    advancing.push({ run, definition, state, events: own, conditions: null, unwritable });
  }
  const planning = planRuns(deps, send, advancing, { plan, shared });
  await (shared ? asItemFaults(planning) : planning);
  const { steps: changed, ready, ended, faults, learned } = plan;
  return { writes: { steps: changed, ends: ended }, progress: { ready, ended, learned, faults } };
}

/** How long workflow runs advance before the event loop runs other work. */
const yieldEveryMs = 50;
/** For all workflow runs of one transaction: it holds locks that others wait for. */
const sharedMsMax = 2_000;
/** Each round loads something more, and no workflow run refers to so much. */
const roundsMax = 200;

interface Plan {
  readonly steps: WrittenStep[];
  readonly ready: DueStep[];
  readonly ended: EndedWorkflowRun[];
  readonly faults: Error[];
  readonly learned: Map<string, RunValues>;
}

interface AdvancingRun {
  readonly run: LockedWorkflowRun;
  readonly definition: WorkflowDefinition;
  readonly state: RunState;
  readonly events: readonly WorkflowRunEvent[];
  /** Kept between rounds, because the cost limit of conditions covers the whole advance. */
  readonly conditions: ConditionEvaluator | null;
  readonly unwritable: Error | null;
}

type Advanced = Extract<Advance, { kind: 'advanced' }>;

interface IncompleteRun {
  readonly run: AdvancingRun;
  readonly missing: MissingRunValues;
}

/** Missing values are read for all workflow runs at once: the rest of the batch waits, and locks are held. */
async function planRuns(
  deps: ProgressDeps,
  send: Send,
  runs: readonly AdvancingRun[],
  { plan, shared }: { readonly plan: Plan; readonly shared: boolean },
): Promise<void> {
  const budget = shared ? createCharBudget() : null;
  const startedAt = performance.now();
  let yieldedAt = startedAt;
  let remaining = runs;
  for (let round = 0; round < roundsMax && remaining.length > 0; round++) {
    const incomplete: IncompleteRun[] = [];
    for (const one of remaining) {
      // One advance is bounded, but a batch of them must not delay the heartbeat.
      if (performance.now() - yieldedAt > yieldEveryMs) {
        await setImmediate();
        yieldedAt = performance.now();
        if (shared && yieldedAt - startedAt > sharedMsMax) {
          throw new ItemFault('These workflow runs take too long to advance together.');
        }
      }
      const conditions = one.conditions ?? new ConditionEvaluator();
      const result = advanceRun(one, conditions, plan);
      if (result.kind === 'advanced') {
        budget?.spend(writtenChars(result));
        addToPlan(one, result, plan);
      } else incomplete.push({ run: { ...one, conditions }, missing: result.missing });
    }
    const missing = incomplete.map(({ run, missing }) => ({ runId: run.run.id, missing }));
    const loaded = await loadMissingValues(send, missing, budget);
    remaining = incomplete.map(({ run }, at) => withLoaded(deps, run, loaded[at] as LoadedValues));
  }
  for (const one of remaining) {
    addToPlan(one, faulted(one, new Error('Its values are still missing.'), plan), plan);
  }
}

function advanceRun(one: AdvancingRun, conditions: ConditionEvaluator, plan: Plan): Advance {
  const { definition, state, events, unwritable } = one;
  if (unwritable) return faulted(one, unwritable, plan);
  try {
    return advance(definition, state, events, conditions);
  } catch (error) {
    return faulted(one, error, plan);
  }
}

/** Fails the workflow run because of a defect. */
function faulted({ run, state, events }: AdvancingRun, cause: unknown, plan: Plan): Advanced {
  plan.faults.push(new Error(`${toId('workflowRun', run.id)} cannot advance`, { cause }));
  const error = 'The server could not advance the workflow run.';
  const end = { status: 'failed', errorCode: 'INTERNAL', error, failedStep: null } as const;
  return { kind: 'advanced', changed: endedSteps(state, events), end };
}

function withLoaded(
  { values: cache }: ProgressDeps,
  one: AdvancingRun,
  loaded: LoadedValues,
): AdvancingRun {
  const { run, state } = one;
  cache.add(run.id, loaded.values);
  const values = merged(state.values, loaded.values);
  const rows = [...state.rows, ...loaded.rows];
  const outputChars = new Map([...state.outputChars, ...loaded.outputChars]);
  return { ...one, state: { ...state, values, rows, outputChars } };
}

function writtenChars({ changed, end }: Advanced): number {
  const values = changed.flatMap(({ variables, items, output }) => [variables, items, output]);
  if (end?.status === 'success') values.push(end.output);
  return values.reduce((sum, value) => sum + (value?.length ?? 0), 0);
}

function addToPlan(
  { run, definition, state }: AdvancingRun,
  { changed, end }: Advanced,
  plan: Plan,
): void {
  plan.learned.set(run.id, merged(state.values, committedValues(changed)));
  // The end of the workflow run removes what later steps could refer to.
  const removed = end === null ? {} : { output: null, items: null };
  for (const step of changed) {
    const written = { ...step, ...removed, runId: run.id };
    if (step.status === 'ready') {
      const ready = readyStep(definition, run, written);
      plan.ready.push(ready);
      plan.steps.push({ ...written, agentId: ready.agentId });
    } else plan.steps.push(written);
  }
  if (end !== null) plan.ended.push(endedWorkflowRun(run, end));
}

/** Outputs and fan-out lists of the changed steps. */
function committedValues(changed: readonly StepState[]): RunValues {
  const steps = changed.filter(({ item }) => item < 0);
  return {
    input: null,
    outputs: new Map(
      steps.flatMap(({ step, output }) => (output === null ? [] : [[step, documentOf(output)]])),
    ),
    lists: new Map(
      steps.flatMap(({ step, items }) => (items === null ? [] : [[step, documentOf(items)]])),
    ),
  };
}

/** The results of the executions that just ended, without any follow-up. */
function endedSteps({ rows }: RunState, events: readonly WorkflowRunEvent[]): StepState[] {
  return events.flatMap(({ step, item, executionId, outcome }) => {
    const row = rows.find((one) => one.step === step && one.item === item);
    if (!row || row.executionId !== executionId || isOver(row)) return [];
    return outcome.kind === 'success' ? { ...row, status: 'success' } : failed(row, outcome);
  });
}

/** In a workflow run that has ended, canceling steps become canceled once their executions end. */
function canceledSteps(
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
  run: LockedWorkflowRun,
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
    agentId: agentId ?? unknownAgentId,
    workspaceId: run.workspaceId,
    workflowId: run.workflowId,
    apiKeyId: run.apiKeyId,
    executedBy: run.executedBy,
    labels: run.labels,
    maxCostUsd: run.maxCostUsd,
  };
}

/** A malformed identifier is treated as unknown. */
const unknownAgentId = '00000000-0000-0000-0000-000000000000';
