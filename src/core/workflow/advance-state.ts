import { checkCondition } from './condition.ts';
import { referredCharsMax } from './definition.ts';
import { type Document, documentOf } from './document.ts';
import { findReferences, type Reference, type Scope } from './reference.ts';
import type { ItemCounts, ItemsFrom, MissingRunValues, RunState } from './run-state.ts';
import { isOver, keyOf, type StepState } from './step-state.ts';

/** What a decision refers to: values, a condition, or both. */
export interface Need {
  readonly values?: readonly unknown[];
  readonly condition?: string | null;
  /** The step whose list items the values refer to. */
  readonly list?: string | null;
}

/** `tooLong`: longer than `referredCharsMax`, so it must not even be read. */
export type Availability = 'read' | 'missing' | 'tooLong';

/** The working state of one advance: what was read of the run, what has changed, and what still has to be read. */
export class AdvanceState {
  /** Resolves references outside of lists; valid only for what `require` reports as read. */
  readonly scope: Scope;
  readonly #state: RunState;
  readonly #rows: Map<string, StepState>;
  readonly #before: ReadonlySet<string>;
  readonly #changed = new Map<string, StepState>();
  readonly #counts: Map<string, ItemCounts>;
  readonly #outputs: Map<string, Document>;
  readonly #lists: Map<string, Document>;
  /** The characters of everything referred to so far, by step name; the input has the empty name. */
  readonly #referred = new Map<string, number>();
  readonly #missing = {
    input: false,
    outputs: new Set<string>(),
    lists: new Set<string>(),
    items: new Map<string, ItemsFrom>(),
  };

  constructor(state: RunState) {
    this.#state = state;
    this.#rows = new Map(state.rows.map((row) => [keyOf(row), row]));
    this.#before = new Set(this.#rows.keys());
    this.#counts = new Map(state.items);
    this.#outputs = new Map(state.values.outputs);
    this.#lists = new Map(state.values.lists);
    this.scope = {
      input: state.values.input ?? nullDocument,
      output: (step) => this.#outputs.get(step) ?? null,
      item: null,
      index: null,
    };
  }

  row(step: string, item = -1): StepState | undefined {
    return this.#rows.get(`${step} ${item}`);
  }

  /** Replaces the row of this step or item. */
  put(row: StepState): void {
    if (row.item >= 0) this.#count(row);
    else if (row.output !== null) this.#outputs.set(row.step, documentOf(row.output));
    else if (row.status === 'failed') this.#outputs.delete(row.step);
    else if (row.items !== null) this.#lists.set(row.step, documentOf(row.items));
    this.#rows.set(keyOf(row), row);
    this.#changed.set(keyOf(row), row);
  }

  itemsOf(step: string): ItemCounts {
    return this.#counts.get(step) ?? { begun: 0, inProgress: 0 };
  }

  listOf(step: string): Document {
    return this.#lists.get(step) ?? nullDocument;
  }

  /** Whether everything that is referred to has been read. What is missing is requested, all of it at once. */
  require({ values = [], condition = null, list = null }: Need): Availability {
    const references = values.flatMap(findReferences);
    const inCondition = condition === null ? null : checkCondition(condition);
    const refersTo = (root: Reference['root']) => references.some((one) => one.root === root);
    const usesInput = refersTo('input') || inCondition?.input === true;
    const usesList = list !== null && refersTo('item');
    const named = references.flatMap(({ step }) => step ?? []);
    const steps = [...new Set([...named, ...(inCondition?.steps ?? [])])].filter((step) =>
      this.#hasOutput(step),
    );
    const chars = new Map(steps.map((step) => [step, this.#charsOf(step)]));
    const { input } = this.#state.values;
    if (usesInput) chars.set('', input?.json.length ?? 0);
    if (sumOf(chars) > referredCharsMax) return 'tooLong';
    const missingOutputs = steps.filter((step) => !this.#outputs.has(step));
    const missingInput = usesInput && !input;
    const missingList = usesList && !this.#lists.has(list);
    if (missingInput) this.#missing.input = true;
    if (missingList) this.#missing.lists.add(list);
    for (const step of missingOutputs) this.#missing.outputs.add(step);
    if (missingInput || missingList || missingOutputs.length > 0) return 'missing';
    for (const [name, length] of chars) this.#referred.set(name, length);
    return 'read';
  }

  /** Characters referred to so far. */
  referredChars(): number {
    return sumOf(this.#referred);
  }

  /** Requests the items of a completed list, starting with `from`. */
  requestItems(step: string, from: number): void {
    this.#missing.items.set(step, { step, from });
  }

  /** What must be read before this advance can be decided; null if nothing is missing. */
  missing(): MissingRunValues | null {
    const { input, outputs, lists, items } = this.#missing;
    if (!input && outputs.size + lists.size + items.size === 0) return null;
    return { input, outputs: [...outputs], lists: [...lists], items: [...items.values()] };
  }

  changed(): StepState[] {
    return [...this.#changed.values()];
  }

  /** Whether the row existed before this advance. */
  existedBefore(row: StepState): boolean {
    return this.#before.has(keyOf(row));
  }

  #count(row: StepState): void {
    const was = this.#rows.get(keyOf(row));
    const { begun, inProgress } = this.itemsOf(row.step);
    const difference = Number(!isOver(row)) - Number(was !== undefined && !isOver(was));
    this.#counts.set(row.step, {
      begun: begun + (was ? 0 : 1),
      inProgress: inProgress + difference,
    });
  }

  #hasOutput(step: string): boolean {
    return this.#outputs.has(step) || this.row(step)?.status === 'success';
  }

  /** A lower bound: the length of an output that was never requested is not known yet. */
  #charsOf(step: string): number {
    return this.#outputs.get(step)?.json.length ?? this.#state.outputChars.get(step) ?? 0;
  }
}

function sumOf(chars: ReadonlyMap<string, number>): number {
  return chars.values().reduce((sum, one) => sum + one, 0);
}

const nullDocument = documentOf('null');
