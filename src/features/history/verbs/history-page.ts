import type { IdRange } from '../../../core/history/history-range.ts';
import type { ListedExecution, OmitsBodies } from '../../../engine/read/executions.ts';
import type { HistoryRequest } from '../statements/history-filter.ts';

export interface ListRequest extends HistoryRequest {
  readonly range: IdRange;
  /** Leaves out variables and output. */
  readonly omitsBodies?: OmitsBodies;
  readonly limit: number;
  readonly offset: number;
  /** The page starts after this execution, in list order. */
  readonly after: string | null;
  /** Whether the oldest come first, which no search does. */
  readonly isAscending?: boolean;
  /** Ends a search whose page nobody waits for. */
  readonly signal?: AbortSignal;
}

export interface HistoryPage {
  readonly rows: ListedExecution[];
  readonly total: number;
  /** Whether counting everything would have taken too long. */
  readonly totalIsLowerBound: boolean;
  /** Where the next page continues if this one took too long to fill, with what is left of the offset. */
  readonly continuesAfter: { readonly id: string; readonly skip: number } | null;
}
