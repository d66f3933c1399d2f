import type { ByteShares, FreeBytes } from '../../core/byte-shares.ts';
import type { Outcome } from '../../core/execution/outcome.ts';
import type { QueuedExecution } from '../../core/execution/queued-execution.ts';
import type { ToolPort } from '../../core/tools/tool-port.ts';
import { isUnstorable } from '../../db/database-error.ts';
import { untilWritten } from '../transaction/until-written.ts';
import type { StepReads } from './step-reads.ts';
import type { StepWrites } from './step-writes.ts';

/** What the loop of an execution needs, and the claim that it runs under. */
export interface ToolLoopDeps {
  readonly tools: ToolPort;
  readonly reads: StepReads;
  readonly writes: StepWrites;
  readonly bytes: ByteShares;
  readonly onError: (error: unknown, operation: string) => void;
}

export interface LoopRun {
  readonly signal: AbortSignal;
  /** Whether the claim can still be written for, also while it is aborted. */
  isHeld(): boolean;
  /** The execution goes on under its next fence. */
  advance(execution: QueuedExecution): void;
  readonly reservations: FreeBytes[];
}

/** What ends or releases an execution; `stopped` if its claim is lost or aborted. */
export type LoopOutcome = Outcome | { readonly kind: 'stopped'; readonly sent: null };

export const stopped = { kind: 'stopped', sent: null } as const;

/** What was written, or not. `lost`: the claim is. `unstorable`: the database refuses the values, each time. */
export type StepResult<T> = T | 'lost' | 'unstorable';

/** Also while the attempt is aborted, because nobody else could write it. */
export async function writeStep<T>(
  { onError }: Pick<ToolLoopDeps, 'onError'>,
  run: Pick<LoopRun, 'isHeld'>,
  write: () => Promise<T | null>,
): Promise<StepResult<T>> {
  const result = await untilWritten<StepResult<T>>(
    () => run.isHeld(),
    (error) => onError(error, 'step'),
    async (failure) => {
      if (isUnstorable(failure)) return 'unstorable';
      return (await write()) ?? 'lost';
    },
  );
  return result ?? 'lost';
}
