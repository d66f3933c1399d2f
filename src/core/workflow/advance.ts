import { elements } from '../json.ts';
import { runBook } from './advance-state.ts';
import { ConditionEvaluator } from './condition-evaluator.ts';
import {
  gatheredCharsMax,
  readyCharsMax,
  type StepDefinition,
  valuesCharsMax,
  type WorkflowDefinition,
} from './definition.ts';
import { documentOfItem } from './document.ts';
import { fill, type Scope } from './reference.ts';
import type { RunState, Unread } from './run-state.ts';
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

/**
 * How a run of a workflow goes on, as a pure function of its definition and where it stands: what has become of
 * executions is put in, and out come the steps that changed, those among them that are ready to be called, and the end of
 * the run where it is over.
 */

/** `unread` asks for what is referred to and was not read: then the same is asked again, with it and the same evaluator. */
export type Advance =
  | { readonly kind: 'unread'; readonly unread: Unread }
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
  const graph = graphOf(definition);
  const book = runBook(state);
  const { scope: whole, row: rowOf } = book;
  /** Nothing more begins once the run has failed. */
  let broken: StepState | null = null;
  /** Of the calls made ready here. What does not fit begins when one of them has ended. */
  let readyChars = 0;
  const isFull = () => readyChars > 0 && Math.max(readyChars, book.lookedChars()) > readyCharsMax;

  for (const event of events) take(event);
  for (const step of graph.ordered) {
    if (broken || isFull()) break;
    const row = rowOf(step.name);
    if (!row) begin(step);
    else if (row.itemsCount !== null && row.status === 'processing') goThrough(step, row);
  }
  const end = broken ? failedEnd(broken) : successEnd();
  const unread = book.unread();
  if (unread) return { kind: 'unread', unread };
  return { kind: 'advanced', changed: book.changed().flatMap((row) => kept(row, end)), end };

  function put(row: StepState): void {
    book.put(row);
    if (row.status !== 'failed' || stepOf(row.step)?.onFailure !== 'fail') return;
    const parent = row.item < 0 ? null : rowOf(row.step);
    if (!parent) broken ??= row;
    else if (!isOver(parent)) put(failed(parent, failureOfItem(row)));
  }

  function stepOf(name: string): StepDefinition | undefined {
    return definition.steps.find((one) => one.name === name);
  }

  function take({ step: name, item, executionId, fallback, outcome }: StepEvent): void {
    const row = rowOf(name, item);
    const step = stepOf(name);
    if (!row || !step || row.executionId !== executionId) return;
    if (row.status !== (executionId === null ? 'ready' : 'processing')) return;
    // The fallback may have taken over since.
    if (executionId === null && row.fallback !== fallback) return;
    if (outcome.kind === 'success')
      put({ ...row, status: 'success', output: outputOfText(outcome.text) });
    else fail(step, row, outcome);
  }

  function begin(step: StepDefinition) {
    const waited = (graph.waitsFor.get(step.name) ?? []).map((name) => rowOf(name));
    if (!waited.every((row) => row && isOver(row))) return;
    const row = fresh(step.name, -1);
    if (waited.length > 0 && waited.every((one) => one?.status === 'skipped')) {
      return put({ ...row, status: 'skipped' });
    }
    const values = [step.variables, step.forEach?.list];
    const ofCondition = book.look({ condition: step.when });
    // Asked for together: to ask again costs more than values that the condition makes needless.
    const ofAll = book.look({ condition: step.when, values });
    if (ofCondition === 'tooLong') return put(failed(row, tooMuchReferredTo()));
    if (ofCondition === 'unread' || ofAll === 'unread') return;
    if (step.when !== null) {
      const result = conditions.evaluate(step.when, whole);
      if (result.kind === 'error') {
        return put(failed(row, { code: 'CONDITION_FAILED', error: result.message }));
      }
      if (!result.value) return put({ ...row, status: 'skipped' });
    }
    if (ofAll === 'tooLong') {
      // The fallback of a list is that of its items, and there are none.
      if (step.forEach) put(failed(row, tooMuchReferredTo()));
      else fail(step, row, tooMuchReferredTo());
    } else if (step.forEach) fanOut(step, step.forEach, row);
    else call(step, row);
  }

  function fanOut(
    step: StepDefinition,
    { list, max }: NonNullable<StepDefinition['forEach']>,
    row: StepState,
  ) {
    const filled = fill(list, whole, valuesCharsMax);
    if (filled === null) return put(failed(row, tooLarge('list')));
    const items = withinOutput(filled);
    if (!items.startsWith('[')) {
      return put(
        failed(row, { code: 'LIST_EXPECTED', error: 'What forEach refers to is not a list.' }),
      );
    }
    const itemsCount = elements(items).length;
    if (itemsCount > max) {
      const error = `The list has ${itemsCount} items, and at most ${max} are allowed.`;
      return put(failed(row, { code: 'LIST_TOO_LONG', error }));
    }
    const parent: StepState = { ...row, status: 'processing', items, itemsCount };
    put(parent);
    goThrough(step, parent);
  }

  /** Begins the next items of a list while there is room, and ends the step with its last one. */
  function goThrough(step: StepDefinition, parent: StepState) {
    const { name } = step;
    const count = parent.itemsCount ?? 0;
    const hasRoom = () => {
      const { begun, underWay } = book.itemsOf(name);
      return begun < count && underWay < (step.forEach?.concurrency ?? 1);
    };
    if (hasRoom()) {
      const reading = book.look({ values: [step.variables], list: name });
      // Such a list is not begun; one may be under way that was, before there was this bound.
      if (reading === 'tooLong' && book.itemsOf(name).underWay === 0)
        return put(failed(parent, tooMuchReferredTo()));
      if (reading !== 'read') return;
      while (hasRoom() && !broken && !isFull()) {
        const { begun } = book.itemsOf(name);
        call(step, fresh(name, begun), scopeOf(name, begun));
        // What its fallback refers to must be read first.
        if (book.itemsOf(name).begun === begun) return;
      }
    }
    const { begun, underWay } = book.itemsOf(name);
    if (!broken && begun === count && underWay === 0) gather(parent, count);
  }

  /** In their order, as far as they fit: what comes after those that do not is never read. */
  function gather(parent: StepState, count: number) {
    const outputs: string[] = [];
    let chars = 2;
    let written = 0;
    for (let item = 0; item < count; item++) {
      const row = rowOf(parent.step, item);
      if (!row || (row.status === 'success' && row.output === null)) {
        return book.askForItems(parent.step, item);
      }
      const output = row.status === 'success' ? withinOutput(row.output ?? 'null') : 'null';
      chars += output.length + 1;
      written += row.output?.length ?? 0;
      if (chars > valuesCharsMax) return put(failed(parent, tooLarge('outputs of the items')));
      if (written > gatheredCharsMax) {
        return put(failed(parent, tooLarge('outputs of the items as written', gatheredCharsMax)));
      }
      outputs.push(output);
    }
    put({ ...parent, status: 'success', items: null, output: `[${outputs.join(',')}]` });
  }

  /** Makes a step ready to be called, or an item of it. */
  function call(step: StepDefinition, row: StepState, scope: Scope = whole) {
    const variables = fill(step.variables, scope, valuesCharsMax);
    if (variables === null) fail(step, row, tooLarge('variables'));
    else {
      readyChars += variables.length;
      put({ ...row, status: 'ready', variables });
    }
  }

  /** A call has failed: its fallback takes over, if there is one that has not failed as well. */
  function fail(step: StepDefinition, row: StepState, failure: Failure) {
    const { fallback } = step;
    if (row.fallback || fallback === null) return put(failed(row, failure));
    const over = { ...row, fallback: true, failedExecutionId: row.executionId, executionId: null };
    const value = isOutput(fallback) ? fallback.output : fallback.variables;
    const reading = book.look({ values: [value], list: row.item < 0 ? null : row.step });
    if (reading === 'unread') return;
    if (reading === 'tooLong') return put(failed(over, tooMuchReferredTo()));
    const filled = fill(value, scopeOf(row.step, row.item), valuesCharsMax);
    if (filled === null) put(failed(over, tooLarge('values of the fallback')));
    else if (isOutput(fallback))
      put({ ...over, status: 'success', variables: null, output: filled });
    else {
      readyChars += filled.length;
      put({ ...over, status: 'ready', variables: filled });
    }
  }

  function scopeOf(step: string, item: number): Scope {
    if (item < 0) return whole;
    const json = book.listOf(step).elements()[item];
    return { ...whole, item: json === undefined ? null : documentOfItem(json), index: item };
  }

  function successEnd(): RunEnd | null {
    for (const { name } of definition.steps) {
      const row = rowOf(name);
      if (!row || !isOver(row)) return null;
    }
    const output = definition.output ?? lastOutputs();
    const reading = book.look({ values: [output] });
    if (reading === 'unread') return null;
    const filled = reading === 'read' ? fill(output, whole, valuesCharsMax) : null;
    if (filled !== null) return { status: 'success', output: filled };
    const { error } = reading === 'read' ? tooLarge('output of the run') : tooMuchReferredTo();
    return { status: 'failed', errorCode: 'OUTPUT_TOO_LARGE', error, failedStep: null };
  }

  function lastOutputs(): unknown {
    const [only = '', ...others] = graph.last;
    if (others.length === 0) return reference(only);
    return Object.fromEntries(graph.last.map((name) => [name, reference(name)]));
  }

  /** Of what has changed, what is to be written: a step that became ready as the run failed has never been. */
  function kept(row: StepState, end: RunEnd | null): StepState[] {
    if (end === null || row.status !== 'ready') return [row];
    return book.isKnown(row) ? [{ ...row, status: 'canceled', variables: null }] : [];
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

function reference(step: string): string {
  return `{{steps.${step}.output}}`;
}
