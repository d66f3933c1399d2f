import { CallFailure } from '../../core/failure.ts';
import type { Pipelines } from '../../store/connection/pipeline.ts';
import { findOutcome } from '../../store/connection/transaction-outcome.ts';

const lookupMs = 5_000;
/** Short: another idle connection may be as dead as the one that carried the commit. */
const responseTimeoutMs = 1_000;
const retryMs = 100;

/**
 * Finds out whether a commit without a response happened, by the transaction id and the id of a row that it inserted.
 * Returns if it did, throws `error` if it did not, and reports `OUTCOME_UNKNOWN` if the database stays silent.
 */
export async function resolveCommit(
  pipelines: Pipelines,
  {
    xid,
    id,
    kind,
  }: {
    readonly xid: string;
    readonly id: string | undefined;
    readonly kind: 'execution' | 'workflowRun';
  },
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
