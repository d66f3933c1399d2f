import type { Document } from './document.ts';
import type { StepState } from './step-state.ts';

/**
 * A run as far as it has been read. What an end costs must not grow with the lengths of lists: of their items there are
 * counts, and rows only of those that something happens to; and what may be long is read where it is referred to.
 */
export interface RunState {
  readonly values: RunValues;
  /** Of steps, and of the items that events name, without outputs; and of items that were asked for, with theirs. */
  readonly rows: readonly StepState[];
  /** Of the items of each step that fans out, by its name: as the rows have it, before any event. */
  readonly items: ReadonlyMap<string, ItemCounts>;
  /** The characters of outputs that were asked for, by the names of their steps: also of those too long to be read. */
  readonly outputChars: ReadonlyMap<string, number>;
}

/** What a run holds that never changes while it goes on, as far as it has been read. */
export interface RunValues {
  readonly input: Document | null;
  /** What steps have put out, by their names. */
  readonly outputs: ReadonlyMap<string, Document>;
  /** What steps fan out over. */
  readonly lists: ReadonlyMap<string, Document>;
}

export interface ItemCounts {
  readonly begun: number;
  /** Ready or processing. */
  readonly underWay: number;
}

/** The items of a list that is complete, from one of them on: some are read, and the rest asked for once those are known. */
export interface ItemsFrom {
  readonly step: string;
  readonly from: number;
}

/** What must be read before a run can go on: values of it, and the items of lists that are complete. */
export interface Unread {
  readonly input: boolean;
  readonly outputs: readonly string[];
  readonly lists: readonly string[];
  readonly items: readonly ItemsFrom[];
}
