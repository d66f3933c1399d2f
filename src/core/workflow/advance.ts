import { elements } from '../json.ts';
import { AdvanceState } from './advance-state.ts';
import { checkCondition } from './condition.ts';
import { ConditionEvaluator } from './condition-evaluator.ts';
import {
  gatheredCharsMax,
  readyCharsMax,
  type StepDefinition,
  valuesCharsMax,
  type WorkflowDefinition,
} from './definition.ts';
import { documentOfItem, documentOfOutput } from './document.ts';
import { fill, type Scope } from './reference.ts';
import type { ChosenItems } from './rerun.ts';
import type { MissingRunValues, RunState } from './run-state.ts';
import { graphOf } from './step-graph.ts';
import { outputOfText, withinOutput } from './step-output.ts';
import {
  type Failure,
  failed,
  fresh,
  isOutput,
  isOver,
  type RunEnd,
  type StepEvent,
  type StepState,
  tooLarge,
  tooMuchReferredTo,
} from './step-state.ts';
import { UnreadableOutputs } from './unreadable-outputs.ts';

/**
 * Workflow progress as a pure function. It takes the definition, the state of the workflow run and the outcomes of
 * executions; it returns the changed steps (those that became ready are to be called) and the end of the run, if it ended.
 *
 * A step begins when every step it waits for is over. It is skipped if all of those were skipped or if its condition is
 * false. A failed call goes to its fallback, once. A failed step with `onFailure: fail` ends the run. A step that fans out
 * keeps at most `concurrency` items in progress and succeeds with the list of their outputs.
 *
 * Whatever reads into an output that is text without a single JSON object or array fails, unless the step that produced the
 * text allows null there. Where only the run's output reads into it, the step that produced the text fails.
 *
 * Values are read only when something refers to them. If one is missing, the result lists what is missing, and the caller
 * repeats the call with it. `readyCharsMax` bounds what one advance makes ready; the rest begins when a call ends.
 */

/** `missing`: read these values, then call again with the same events and the same evaluator. */
export type Advance =
  | { readonly kind: 'missing'; readonly missing: MissingRunValues }
  | {
      readonly kind: 'advanced';
      readonly changed: readonly StepState[];
      readonly end: RunEnd | null;
    };

export function advance(
  definition: WorkflowDefinition,
  state: RunState,
  events: readonly StepEvent[],
  conditions = new ConditionEvaluator(),
): Advance {
  return new RunAdvance(definition, state, conditions).advance(events);
}

class RunAdvance {
  readonly #definition: WorkflowDefinition;
  readonly #graph: ReturnType<typeof graphOf>;
  readonly #state: AdvanceState;
  readonly #conditions: ConditionEvaluator;
  readonly #unreadable: UnreadableOutputs;
  readonly #chosen: ChosenItems | null;
  /** The step that failed the run; nothing begins after it. */
  #failedStep: StepState | null = null;
  /** Characters of the calls made ready by this advance. */
  #readyChars = 0;

  constructor(definition: WorkflowDefinition, state: RunState, conditions: ConditionEvaluator) {
    this.#definition = definition;
    this.#graph = graphOf(definition);
    this.#state = new AdvanceState(state);
    this.#chosen = state.chosen ?? null;
    this.#conditions = conditions;
    this.#unreadable = new UnreadableOutputs(definition, this.#state.scope);
  }

  advance(events: readonly StepEvent[]): Advance {
    for (const event of events) this.#apply(event);
    for (const step of this.#inOrder()) {
      if (this.#failedStep || this.#isFull()) break;
      const row = this.#state.row(step.name);
      if (!row) this.#begin(step);
      else if (row.itemsCount !== null && row.status === 'processing')
        this.#continueList(step, row);
    }
    const end = this.#failedStep ? failedEnd(this.#failedStep) : this.#successEnd();
    const missing = this.#state.missing();
    if (missing) return { kind: 'missing', missing };
    const changed = this.#state.changed().flatMap((row) => this.#written(row, end));
    return { kind: 'advanced', changed, end };
  }

  /** The step with chosen items begins first, whatever else becomes ready: no later advance knows of them. */
  #inOrder(): readonly StepDefinition[] {
    const { ordered } = this.#graph;
    const chosen = ordered.filter(({ name }) => name === this.#chosen?.step);
    return [...chosen, ...ordered];
  }

  #isFull(): boolean {
    const chars = Math.max(this.#readyChars, this.#state.referredChars());
    return this.#readyChars > 0 && chars > readyCharsMax;
  }

  #put(row: StepState) {
    this.#state.put(row);
    if (row.status !== 'failed' || this.#stepOf(row.step)?.onFailure !== 'fail') return;
    const parent = row.item < 0 ? null : this.#state.row(row.step);
    if (!parent) this.#failedStep ??= row;
    else if (!isOver(parent)) this.#put(failed(parent, failureOfItem(row)));
  }

  #stepOf(name: string): StepDefinition | undefined {
    return this.#definition.steps.find((one) => one.name === name);
  }

  /** Events of another execution, or of a call that the fallback has replaced, are stale and ignored. */
  #apply({ step: name, item, executionId, fallback, outcome }: StepEvent) {
    const row = this.#state.row(name, item);
    const step = this.#stepOf(name);
    if (!row || !step || row.executionId !== executionId) return;
    if (row.status !== (executionId === null ? 'ready' : 'processing')) return;
    if (executionId === null && row.fallback !== fallback) return;
    if (outcome.kind === 'failed') return this.#fail(step, row, outcome);
    const output = outcome.json ?? outputOfText(outcome.text);
    const unreadable = item < 0 ? this.#unreadable.inEnd(step, output) : null;
    if (unreadable) this.#fail(step, row, unreadable);
    else this.#put({ ...row, status: 'success', output });
  }

  #begin(step: StepDefinition) {
    const awaited = (this.#graph.waitsFor.get(step.name) ?? []).map((name) =>
      this.#state.row(name),
    );
    if (!awaited.every((row) => row && isOver(row))) return;
    const row = fresh(step.name, -1);
    if (awaited.length > 0 && awaited.every((one) => one?.status === 'skipped')) {
      return this.#put({ ...row, status: 'skipped' });
    }
    const condition = this.#state.require({ condition: step.when });
    // Requested together: a second round trip costs more than reading values that a false condition makes needless.
    const all = this.#state.require({
      condition: step.when,
      values: [step.variables, step.forEach?.list],
    });
    if (condition === 'tooLong') return this.#put(failed(row, tooMuchReferredTo()));
    if (condition === 'missing' || all === 'missing') return;
    if (step.when !== null) {
      const unreadable = this.#unreadable.inSteps(checkCondition(step.when).reads);
      if (unreadable) return this.#failBeforeCalls(step, row, unreadable);
      const result = this.#conditions.evaluate(step.when, this.#state.scope);
      if (result.kind === 'error') {
        return this.#put(failed(row, { code: 'CONDITION_FAILED', error: result.message }));
      }
      if (!result.value) return this.#put({ ...row, status: 'skipped' });
    }
    if (all === 'tooLong') this.#failBeforeCalls(step, row, tooMuchReferredTo());
    else if (step.forEach) this.#fanOut(step, step.forEach, row);
    else this.#call(step, row);
  }

  /** A fallback applies to the items of a list, and there are none yet. */
  #failBeforeCalls(step: StepDefinition, row: StepState, failure: Failure) {
    if (step.forEach) this.#put(failed(row, failure));
    else this.#fail(step, row, failure);
  }

  #fanOut(step: StepDefinition, forEach: NonNullable<StepDefinition['forEach']>, row: StepState) {
    const { max } = forEach;
    const unreadable = this.#unreadable.inList(forEach.list);
    if (unreadable) return this.#put(failed(row, unreadable));
    const filled = fill(forEach.list, this.#state.scope, valuesCharsMax);
    if (filled === null) return this.#put(failed(row, tooLarge('list')));
    const items = this.#unreadable.listIn(forEach.list) ?? withinOutput(filled);
    if (!items.startsWith('[')) {
      const error = 'The value that forEach refers to is not a list.';
      return this.#put(failed(row, { code: 'LIST_EXPECTED', error }));
    }
    const all = elements(items);
    if (all.length > max) {
      const error = `The list has ${all.length} items; at most ${max} are allowed.`;
      return this.#put(failed(row, { code: 'LIST_TOO_LONG', error }));
    }
    const chosen = this.#chosen?.step === step.name ? new Set(this.#chosen.items) : null;
    const list = chosen && all.filter((_, item) => chosen.has(item));
    const parent: StepState = {
      ...{ ...row, status: 'processing', itemsCount: (list ?? all).length },
      items: list ? `[${list.join(',')}]` : items,
    };
    this.#put(parent);
    this.#continueList(step, parent);
  }

  /** Begins further items of a list up to its concurrency, and ends the step with its last item. */
  #continueList(step: StepDefinition, parent: StepState) {
    const count = parent.itemsCount ?? 0;
    if (this.#hasRoom(step, count)) {
      const available = this.#state.require({ values: [step.variables], list: step.name });
      const { inProgress } = this.#state.itemsOf(step.name);
      if (available === 'tooLong' && inProgress === 0) {
        return this.#put(failed(parent, tooMuchReferredTo()));
      }
      if (available !== 'read') return;
      if (!this.#beginItems(step, count)) return;
    }
    const { begun, inProgress } = this.#state.itemsOf(step.name);
    if (!this.#failedStep && begun === count && inProgress === 0) this.#gather(parent, count);
  }

  /** False if an item could not begin because its fallback refers to values that are missing. */
  #beginItems(step: StepDefinition, count: number): boolean {
    while (this.#hasRoom(step, count) && !this.#failedStep && !this.#isFull()) {
      const { begun } = this.#state.itemsOf(step.name);
      this.#call(step, fresh(step.name, begun), this.#scopeOf(step.name, begun));
      if (this.#state.itemsOf(step.name).begun === begun) return false;
    }
    return true;
  }

  #hasRoom(step: StepDefinition, count: number): boolean {
    const { begun, inProgress } = this.#state.itemsOf(step.name);
    return begun < count && inProgress < (step.forEach?.concurrency ?? 1);
  }

  /** Joins the outputs of the items in order. Outputs beyond the first that does not fit are never read. */
  #gather(parent: StepState, count: number) {
    const outputs: string[] = [];
    let chars = 2;
    let writtenChars = 0;
    for (let item = 0; item < count; item++) {
      const row = this.#state.row(parent.step, item);
      if (!row || (row.status === 'success' && row.output === null)) {
        return this.#state.requestItems(parent.step, item);
      }
      const output = row.status === 'success' ? withinOutput(row.output ?? 'null') : 'null';
      chars += output.length + 1;
      writtenChars += row.output?.length ?? 0;
      if (chars > valuesCharsMax)
        return this.#put(failed(parent, tooLarge('outputs of the items')));
      if (writtenChars > gatheredCharsMax) {
        const failure = tooLarge('outputs of the items as written', gatheredCharsMax);
        return this.#put(failed(parent, failure));
      }
      outputs.push(output);
    }
    const output = `[${outputs.join(',')}]`;
    const step = this.#stepOf(parent.step);
    const unreadable = step ? this.#unreadable.inEnd(step, output) : null;
    if (unreadable) this.#put(failed(parent, unreadable));
    else this.#put({ ...parent, status: 'success', items: null, output });
  }

  /** Makes a step, or one of its items, ready to be called. */
  #call(step: StepDefinition, row: StepState, scope: Scope = this.#state.scope) {
    const unreadable = this.#unreadable.in(step.variables, scope, step);
    if (unreadable) return this.#fail(step, row, unreadable);
    const variables = fill(step.variables, scope, valuesCharsMax);
    if (variables === null) return this.#fail(step, row, tooLarge('variables'));
    this.#readyChars += variables.length;
    this.#put({ ...row, status: 'ready', variables });
  }

  /** Hands a failed call to its fallback; fails the step if there is none or it failed as well. */
  #fail(step: StepDefinition, row: StepState, failure: Failure) {
    const { fallback } = step;
    if (row.fallback || fallback === null) return this.#put(failed(row, failure));
    const next = { ...row, fallback: true, failedExecutionId: row.executionId, executionId: null };
    const value = isOutput(fallback) ? fallback.output : fallback.variables;
    const available = this.#state.require({
      values: [value],
      list: row.item < 0 ? null : row.step,
    });
    if (available === 'missing') return;
    if (available === 'tooLong') return this.#put(failed(next, tooMuchReferredTo()));
    const scope = this.#scopeOf(row.step, row.item);
    const unreadable = this.#unreadable.in(value, scope, step);
    if (unreadable) return this.#put(failed(next, unreadable));
    const filled = fill(value, scope, valuesCharsMax);
    if (filled === null) return this.#put(failed(next, tooLarge('values of the fallback')));
    if (isOutput(fallback)) {
      const unusable = row.item < 0 ? this.#unreadable.inEnd(step, filled) : null;
      if (unusable) return this.#put(failed(next, unusable));
      return this.#put({ ...next, status: 'success', variables: null, output: filled });
    }
    this.#readyChars += filled.length;
    this.#put({ ...next, status: 'ready', variables: filled });
  }

  #scopeOf(step: string, item: number): Scope {
    const { scope } = this.#state;
    if (item < 0) return scope;
    const json = this.#state.listOf(step).elements()[item];
    const documentOfElement = this.#unreadable.outputsIn(this.#stepOf(step))
      ? documentOfOutput
      : documentOfItem;
    return { ...scope, item: json === undefined ? null : documentOfElement(json), index: item };
  }

  #successEnd(): RunEnd | null {
    for (const { name } of this.#definition.steps) {
      const row = this.#state.row(name);
      if (!row || !isOver(row)) return null;
    }
    const output = this.#definition.output ?? this.#lastOutputs();
    const available = this.#state.require({ values: [output] });
    if (available === 'missing') return null;
    // A step that needed it was skipped or went on without: the step fails, but others have used its text already.
    for (
      let failure = this.#unreadable.in(output);
      failure;
      failure = this.#unreadable.in(output)
    ) {
      const row = this.#state.row(failure.step);
      if (row) this.#put({ ...failed(row, failure), output: null });
      if (this.#failedStep) return failedEnd(this.#failedStep);
    }
    const filled = available === 'read' ? fill(output, this.#state.scope, valuesCharsMax) : null;
    if (filled !== null) return { status: 'success', output: filled };
    const { error } =
      available === 'read' ? tooLarge('output of the workflow run') : tooMuchReferredTo();
    return { status: 'failed', errorCode: 'OUTPUT_TOO_LARGE', error, failedStep: null };
  }

  #lastOutputs(): unknown {
    const { last } = this.#graph;
    const [only = '', ...others] = last;
    if (others.length === 0) return outputReference(only);
    return Object.fromEntries(last.map((name) => [name, outputReference(name)]));
  }

  /** The rows to write for a change: a step that became ready in the advance that ended the run never existed. */
  #written(row: StepState, end: RunEnd | null): StepState[] {
    if (end === null || row.status !== 'ready') return [row];
    if (!this.#state.existedBefore(row)) return [];
    return [{ ...row, status: 'canceled', variables: null }];
  }
}

function failureOfItem({ item, errorCode, error }: StepState): Failure {
  return { code: errorCode ?? 'INTERNAL', error: `Item ${item}: ${error}` };
}

function failedEnd({ step, error }: StepState): RunEnd {
  return {
    status: 'failed',
    errorCode: 'STEP_FAILED',
    error: `Step "${step}" failed: ${error}`,
    failedStep: step,
  };
}

function outputReference(step: string): string {
  return `{{steps.${step}.output}}`;
}
