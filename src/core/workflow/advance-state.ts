import { checkCondition } from './condition.ts';
import { referredCharsMax } from './definition.ts';
import { type Document, documentOf } from './document.ts';
import { findReferences, type Reference, type Scope } from './reference.ts';
import type { ItemCounts, ItemsFrom, RunState, Unread } from './run-state.ts';
import { isOver, keyOf, type StepState } from './step-state.ts';

/** What is to be looked into together: values, and a condition. */
export interface Need {
  readonly values?: readonly unknown[];
  readonly condition?: string | null;
  /** Of the items of which list the values are. */
  readonly list?: string | null;
}

/** Too long: it must not even be read. */
export type Reading = 'read' | 'unread' | 'tooLong';

/** The book of one advance of a run: what was read of it, what has changed since, and what must be read yet. */
export interface AdvanceState {
  /** What references outside of lists stand for; only where `look` says that it is read. */
  readonly scope: Scope;
  row(step: string, item?: number): StepState | undefined;
  /** Takes the place of the row before. */
  put(row: StepState): void;
  itemsOf(step: string): ItemCounts;
  listOf(step: string): Document;
  /** Whether all that is referred to has been read: what has not is asked for, in one go. */
  look(need: Need): Reading;
  /** How much has been looked into. */
  lookedChars(): number;
  /** Asks for the items of a list that is complete, from one on. */
  askForItems(step: string, from: number): void;
  /** Null where nothing was asked for. */
  unread(): Unread | null;
  changed(): readonly StepState[];
  /** Whether there was a row before. */
  isKnown(row: StepState): boolean;
}

export function advanceState({ values, rows: before, items, outputChars }: RunState): AdvanceState {
  const rows = new Map(before.map((row) => [keyOf(row), row]));
  const known = new Set(rows.keys());
  const changed = new Map<string, StepState>();
  const counts = new Map<string, ItemCounts>(items);
  const outputs = new Map(values.outputs);
  const lists = new Map(values.lists);
  const asked = {
    input: false,
    outputs: new Set<string>(),
    lists: new Set<string>(),
    items: new Map<string, ItemsFrom>(),
  };
  /** The characters of what was looked into, by the name of the step; the input has none. */
  const looked = new Map<string, number>();
  const itemsOf = (step: string) => counts.get(step) ?? { begun: 0, underWay: 0 };

  function count(row: StepState): void {
    const was = rows.get(keyOf(row));
    const { begun, underWay } = itemsOf(row.step);
    const more = Number(!isOver(row)) - Number(was !== undefined && !isOver(was));
    counts.set(row.step, { begun: begun + (was ? 0 : 1), underWay: underWay + more });
  }

  function look({ values: of = [], condition = null, list = null }: Need): Reading {
    const references = of.flatMap(findReferences);
    const held = condition === null ? null : checkCondition(condition);
    const refers = (root: Reference['root']) => references.some((one) => one.root === root);
    const hasInput = refers('input') || held?.input === true;
    const hasList = list !== null && refers('item');
    const named = references.flatMap(({ step }) => step ?? []);
    const steps = new Set([...named, ...(held?.steps ?? [])].filter(hasOutput));
    const chars = new Map([...steps].map((step) => [step, charsOf(step)]));
    if (hasInput) chars.set('', values.input?.json.length ?? 0);
    if (sumOf(chars) > referredCharsMax) return 'tooLong';
    const lacksInput = hasInput && !values.input;
    const lacksList = hasList && !lists.has(list);
    const lacking = [...steps].filter((step) => !outputs.has(step));
    if (lacksInput) asked.input = true;
    if (lacksList) asked.lists.add(list);
    for (const step of lacking) asked.outputs.add(step);
    if (lacksInput || lacksList || lacking.length > 0) return 'unread';
    for (const [name, length] of chars) looked.set(name, length);
    return 'read';
  }

  function hasOutput(step: string): boolean {
    return outputs.has(step) || rows.get(`${step} -1`)?.status === 'success';
  }

  /** At least so many: what was never asked for counts once it is known. */
  function charsOf(step: string): number {
    return outputs.get(step)?.json.length ?? outputChars.get(step) ?? 0;
  }

  return {
    scope: {
      input: values.input ?? nothing,
      output: (step) => outputs.get(step) ?? null,
      item: null,
      index: null,
    },
    row: (step, item = -1) => rows.get(`${step} ${item}`),
    put(row) {
      if (row.item >= 0) count(row);
      else if (row.output !== null) outputs.set(row.step, documentOf(row.output));
      else if (row.items !== null) lists.set(row.step, documentOf(row.items));
      rows.set(keyOf(row), row);
      changed.set(keyOf(row), row);
    },
    itemsOf,
    listOf: (step) => lists.get(step) ?? nothing,
    look,
    lookedChars: () => sumOf(looked),
    askForItems: (step, from) => void asked.items.set(step, { step, from }),
    unread() {
      const { input, outputs: of, lists: over, items: complete } = asked;
      if (!input && of.size + over.size + complete.size === 0) return null;
      return { input, outputs: [...of], lists: [...over], items: [...complete.values()] };
    },
    changed: () => [...changed.values()],
    isKnown: (row) => known.has(keyOf(row)),
  };
}

function sumOf(chars: ReadonlyMap<string, number>): number {
  return chars.values().reduce((sum, one) => sum + one, 0);
}

const nothing = documentOf('null');
