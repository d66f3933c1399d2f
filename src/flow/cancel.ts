import type { Db } from '../store/db.ts';
import { findUnended } from '../store/executions.ts';
import { canceledEnd, type Finisher } from './finish.ts';

/** Ends a run that is still under way. The queue row goes first, and with it the fence of whoever works on it. */
export interface Canceler {
  /** False where the run had ended before. */
  cancel(executionId: string): Promise<boolean>;
}

export function createCanceler(parts: {
  readonly db: Db;
  readonly finisher: Finisher;
  /** Told of a run whose call some process must stop. */
  readonly onCanceled: (executionId: string) => void;
}): Canceler {
  return {
    async cancel(executionId) {
      const run = await findUnended(parts.db, executionId);
      if (!run) return false;
      const { ended, worker } = await parts.finisher.finish(canceledEnd(executionId, run));
      if (ended && worker !== null) parts.onCanceled(executionId);
      return ended !== null;
    },
  };
}
