import type { Document } from './document.ts';
import type { ChosenItems } from './rerun.ts';
import type { StepState } from './step-state.ts';

/**
 * A workflow run as far as it has been read. The cost of an advance must not grow with the length of lists: items are
 * counted, only items named by an event have rows, and long values are read only when something refers to them.
 */
export interface RunState {
  readonly values: RunValues;
  /** Steps and the items that events name, without outputs; items that were requested, with outputs. */
  readonly rows: readonly StepState[];
  /** Item counts of each step that fans out, by step name, before any event. */
  readonly items: ReadonlyMap<string, ItemCounts>;
  /** Characters of requested outputs by step name, including those too long to be read. */
  readonly outputChars: ReadonlyMap<string, number>;
  /** At the start of a run of chosen items: the step that fans out over them. */
  readonly chosen?: ChosenItems | null;
}

/** The values of a workflow run that never change while it is in progress, as far as they have been read. */
export interface RunValues {
  readonly input: Document | null;
  /** Outputs by step name. */
  readonly outputs: ReadonlyMap<string, Document>;
  /** The lists that steps fan out over, by step name. */
  readonly lists: ReadonlyMap<string, Document>;
}

export interface ItemCounts {
  readonly begun: number;
  /** Ready or processing. */
  readonly inProgress: number;
}

/** The items of a completed list, starting with `from`: some are read now, the rest are requested later. */
export interface ItemsFrom {
  readonly step: string;
  readonly from: number;
}

/** What must be read before a workflow run can advance. */
export interface MissingRunValues {
  readonly input: boolean;
  readonly outputs: readonly string[];
  readonly lists: readonly string[];
  readonly items: readonly ItemsFrom[];
}
