import { documentOf } from '../../../src/core/workflow/document.ts';
import type {
  MissingRunValues,
  RunState,
  RunValues,
} from '../../../src/core/workflow/run-state.ts';
import {
  isOver,
  keyOf,
  type StepEvent,
  type StepState,
} from '../../../src/core/workflow/step-state.ts';

/** Reads workflow runs from rows in memory, as the store reads them from its tables. */

/** The complete state. */
export function wholeOf(input: string, rows: readonly StepState[]): RunState {
  const own = rows.filter(({ item }) => item < 0);
  return {
    rows,
    items: countsOf(rows),
    outputChars: new Map(),
    values: {
      input: documentOf(input),
      outputs: documentsOf(own, ({ output }) => output),
      lists: documentsOf(own, ({ items }) => items),
    },
  };
}

/** The first read: no values; of the items only counts and those named by events. */
export function briefOf(rows: readonly StepState[], events: readonly StepEvent[]): RunState {
  const named = new Set(events.map(({ step, item }) => `${step} ${item}`));
  return {
    rows: rows
      .filter((row) => row.item < 0 || named.has(keyOf(row)))
      .map((row) => ({ ...row, output: null, items: null, variables: null })),
    items: countsOf(rows),
    outputChars: new Map(),
    values: { input: null, outputs: new Map(), lists: new Map() },
  };
}

/** Adds the missing values to the state; items of a list two at a time. */
export function readMore(
  { rows, items, values, outputChars }: RunState,
  { input, outputs, lists, items: complete }: MissingRunValues,
  whole: RunState,
): RunState {
  const some = (of: RunValues['outputs'], steps: readonly string[]) =>
    [...of].filter(([step]) => steps.includes(step));
  const next = complete.flatMap(({ step, from }) =>
    whole.rows.filter((row) => row.step === step && row.item >= from && row.item < from + 2),
  );
  return {
    items,
    outputChars,
    rows: [...rows, ...next],
    values: {
      input: input ? whole.values.input : values.input,
      outputs: new Map([...values.outputs, ...some(whole.values.outputs, outputs)]),
      lists: new Map([...values.lists, ...some(whole.values.lists, lists)]),
    },
  };
}

function countsOf(rows: readonly StepState[]): RunState['items'] {
  const items = Map.groupBy(
    rows.filter(({ item }) => item >= 0),
    ({ step }) => step,
  );
  return new Map(
    [...items].map(([step, of]) => [
      step,
      { begun: of.length, inProgress: of.filter((one) => !isOver(one)).length },
    ]),
  );
}

function documentsOf(rows: readonly StepState[], of: (row: StepState) => string | null) {
  const documents = rows.map((row) => [row.step, of(row)] as const);
  return new Map(
    documents.flatMap(([step, json]) => (json === null ? [] : [[step, documentOf(json)]])),
  );
}
