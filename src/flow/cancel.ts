import type { Db } from '../store/db.ts';
import { findUnended, type UnendedRun } from '../store/executions.ts';
import { canceledEnd, type Finisher } from './finish.ts';

/** Ends a run that is still under way. The queue row goes first, and with it the fence of whoever works on it. */
export interface Canceler {
  /** False where the run had ended before. */
  cancel(executionId: string): Promise<boolean>;
  /** The same of many, looked for in one statement. */
  cancelAll(executionIds: readonly string[]): Promise<boolean[]>;
}

export function createCanceler(parts: {
  readonly db: Db;
  readonly finisher: Finisher;
  /** Told of a run whose call some process must stop. */
  readonly onCanceled: (executionId: string) => void;
}): Canceler {
  async function end(executionId: string, run: UnendedRun | undefined): Promise<boolean> {
    if (!run) return false;
    const { ended, worker } = await parts.finisher.finish(canceledEnd(executionId, run));
    if (ended && worker !== null) parts.onCanceled(executionId);
    return ended !== null;
  }

  async function cancelAll(executionIds: readonly string[]): Promise<boolean[]> {
    const runs = await findUnended(parts.db, executionIds);
    return Promise.all(executionIds.map((id) => end(id, runs.get(id))));
  }

  return {
    cancelAll,
    async cancel(executionId) {
      const [canceled] = await cancelAll([executionId]);
      return canceled === true;
    },
  };
}
