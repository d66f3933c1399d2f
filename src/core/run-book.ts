import { checkCondition } from './condition.ts';
import { type Document, documentOf } from './document.ts';
import { findReferences, type Scope } from './reference.ts';
import type { ItemCounts, ItemsFrom, RunState, Unread } from './run-state.ts';
import { isOver, keyOf, type StepState } from './step-state.ts';

/** The book of one advance of a run: what was read of it, what has changed since, and what must be read yet. */
export interface RunBook {
  /** What references outside of lists stand for; only where `isRead` says so. */
  readonly scope: Scope;
  row(step: string, item?: number): StepState | undefined;
  /** Takes the place of the row before. */
  put(row: StepState): void;
  itemsOf(step: string): ItemCounts;
  listOf(step: string): Document;
  /** Whether all that a value refers to has been read: what has not is asked for, in one go. `list`: of its items. */
  isRead(value: unknown, list?: string | null): boolean;
  /** The same of a condition. */
  isConditionRead(condition: string): boolean;
  /** Asks for the items of a list that is complete, from one on. */
  askForItems(step: string, from: number): void;
  /** Null where nothing was asked for. */
  unread(): Unread | null;
  changed(): readonly StepState[];
  /** Whether there was a row before. */
  isKnown(row: StepState): boolean;
}

export function runBook({ values, rows: before, items }: RunState): RunBook {
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
  const itemsOf = (step: string) => counts.get(step) ?? { begun: 0, underWay: 0 };

  function count(row: StepState): void {
    const was = rows.get(keyOf(row));
    const { begun, underWay } = itemsOf(row.step);
    const more = Number(!isOver(row)) - Number(was !== undefined && !isOver(was));
    counts.set(row.step, { begun: begun + (was ? 0 : 1), underWay: underWay + more });
  }

  function isInputRead(): boolean {
    if (values.input) return true;
    asked.input = true;
    return false;
  }

  function isOutputRead(step: string): boolean {
    if (outputs.has(step) || rows.get(`${step} -1`)?.status !== 'success') return true;
    asked.outputs.add(step);
    return false;
  }

  function isListRead(step: string): boolean {
    if (lists.has(step)) return true;
    asked.lists.add(step);
    return false;
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
    isRead(value, list = null) {
      const read = findReferences(value).map(({ root, step }) => {
        if (root === 'input') return isInputRead();
        if (root === 'steps') return isOutputRead(step ?? '');
        return root === 'index' || list === null || isListRead(list);
      });
      return read.every(Boolean);
    },
    isConditionRead(condition) {
      const { steps, input } = checkCondition(condition);
      const read = [...steps.map(isOutputRead), !input || isInputRead()];
      return read.every(Boolean);
    },
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

const nothing = documentOf('null');
