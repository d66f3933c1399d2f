import { CallFailure } from '../../core/failure.ts';
import { isStatementError, isUnstorable } from '../../db/database-error.ts';
import type { Pipelines } from '../../db/pipeline.ts';
import { findOutcome } from '../../db/transaction-outcome.ts';

const lookupMs = 5_000;
/** Short: another idle connection may be as dead as the one that carried the commit. */
const responseTimeoutMs = 1_000;
const retryMs = 100;

/** How the outcome of a transaction is found: by its id and the first row that it inserted, if any. */
interface Inserted {
  readonly xid: string;
  readonly id: string | undefined;
  readonly kind: 'execution' | 'workflowRun';
}

/** Waits for a commit. Returns null if it happened, but its response was lost. */
export async function awaitCommit<T>(
  pipelines: Pipelines,
  commit: Promise<T>,
  inserted: Inserted,
): Promise<T | null> {
  try {
    return await commit;
  } catch (error) {
    if (isStatementError(error) || isUnstorable(error)) throw error;
    await resolveCommit(pipelines, inserted, error);
    return null;
  }
}

/** Returns if the commit happened, throws `error` if it did not, and reports `OUTCOME_UNKNOWN` if the database stays silent. */
async function resolveCommit(
  pipelines: Pipelines,
  { xid, id, kind }: Inserted,
  error: unknown,
): Promise<void> {
  // The transaction accepted nothing, so a retry by the caller is harmless.
  if (id === undefined) throw error;
  const until = performance.now() + lookupMs;
  for (;;) {
    const outcome = await pipelines
      .use((send) => findOutcome(send, xid, id, kind), responseTimeoutMs)
      .catch(() => 'in progress' as const);
    if (outcome === 'committed') return;
    if (outcome === 'aborted') throw error;
    if (performance.now() > until) throw outcomeUnknown();
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}

function outcomeUnknown(): CallFailure {
  return new CallFailure(
    'OUTCOME_UNKNOWN',
    'The call may have been accepted. A retry with the same Idempotency-Key is safe.',
    { retryAfter: 1 },
  );
}
