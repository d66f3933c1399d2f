import type { Compute } from '../../core/compute.ts';
import { type ComputeThread, createComputeThread } from './compute-thread.ts';

/** Two compute threads: jobs with long inputs have one of their own, so that those of others do not wait behind them. */
export function createComputeLanes(): ComputeThread {
  const short = createComputeThread();
  // Of a long input, no copy waits in the thread.
  const long = createComputeThread(undefined, 1);
  const run: Compute['run'] = (workspaceId, job, input, chars = 0) =>
    (chars > shortCharsMax ? long : short).run(workspaceId, job, input);
  return {
    run,
    async close() {
      await Promise.all([short.close(), long.close()]);
    },
  };
}

/** As many as most requests have bytes. */
const shortCharsMax = 1_048_576;
