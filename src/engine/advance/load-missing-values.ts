import type { Send } from '../../db/pipeline.ts';
import { ItemFault } from '../transaction/retry-transaction.ts';
import type { WorkflowRunStepState } from './workflow-progress.ts';
import {
  type MissingValues,
  measureValues,
  type ReadValues,
  readItems,
  readValues,
} from './workflow-progress-read.ts';

/** Characters that the workflow runs of one transaction may read and write: they stay in memory until it commits. */
const sharedCharsMax = 33_554_432;

/** Limits workflow runs that share a transaction. The definition limits a single one. */
export interface CharBudget {
  /** Throws `ItemFault` beyond the budget. */
  spend(chars: number): void;
}

export function createCharBudget(): CharBudget {
  let spent = 0;
  return {
    spend(chars) {
      spent += chars;
      if (spent > sharedCharsMax) {
        throw new ItemFault('These workflow runs hold too much to advance together.');
      }
    },
  };
}

export interface LoadedValues extends ReadValues {
  readonly rows: readonly WorkflowRunStepState[];
}

/**
 * Reads what workflow runs lack: values of all at once, then the next items of complete lists. With a budget, the length
 * of the values is checked before they are read.
 */
export async function loadMissingValues(
  send: Send,
  missing: readonly MissingValues[],
  budget: CharBudget | null,
): Promise<LoadedValues[]> {
  const withValues = missing.filter(({ missing: { input, outputs, lists } }) => {
    return input || outputs.length + lists.length > 0;
  });
  if (budget && withValues.length > 0) {
    budget.spend(await measureValues(send, withValues, sharedCharsMax));
  }
  const values = await Promise.all(missing.map((one) => readValues(send, one)));
  const loaded: LoadedValues[] = [];
  for (const [at, own] of values.entries()) {
    const rows: WorkflowRunStepState[] = [];
    const { runId, missing: lacking } = missing[at] as MissingValues;
    for (const items of lacking.items) {
      const next = await readItems(send, runId, items);
      budget?.spend(next.reduce((sum, { output }) => sum + (output?.length ?? 0), 0));
      rows.push(...next);
    }
    loaded.push({ ...own, rows });
  }
  return loaded;
}
