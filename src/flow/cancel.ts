import type { Template } from '../core/prompt.ts';
import { rendered } from '../core/rendered.ts';
import type { Db } from '../store/db.ts';
import { findRendering, findUnended, type UnendedRun } from '../store/executions.ts';
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
  readonly template: (promptVersionId: string) => Promise<Template>;
  /** Told of a run whose call some process must stop. */
  readonly onCanceled: (executionId: string) => void;
}): Canceler {
  async function end(executionId: string, run: UnendedRun | undefined): Promise<boolean> {
    if (!run) return false;
    const prompt = run.keepsPrompt ? await promptOf(executionId) : null;
    const { ended, worker } = await parts.finisher.finish(canceledEnd(executionId, run, prompt));
    if (ended && worker !== null) parts.onCanceled(executionId);
    return ended !== null;
  }

  /** Whoever calls the model is stopped and does not write: what was sent is told here. */
  async function promptOf(executionId: string): Promise<Template | null> {
    const run = await findRendering(parts.db, executionId);
    return run && rendered(await parts.template(run.promptVersionId), run);
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
