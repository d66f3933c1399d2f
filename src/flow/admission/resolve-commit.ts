import { CallFailure } from '../../core/failure.ts';
import type { Pipelines } from '../../store/connection/pipeline.ts';
import { findOutcome } from '../../store/connection/transaction-outcome.ts';

/** How long an unanswered commit is looked up before the answer is that the outcome is unknown. */
const lookupMs = 5_000;
/** A connection that was idle may be as dead as the one that the commit went over. */
const lookupAnswerMs = 1_000;

/**
 * A commit was not answered: it may or may not have happened. Asks, until an answer or the time is up; returns where it
 * has happened, and throws `error` where not.
 */
export async function resolveCommit(
  pipelines: Pipelines,
  {
    xid,
    id,
    of,
  }: { readonly xid: string; readonly id: string | undefined; readonly of: 'execution' | 'run' },
  error: unknown,
): Promise<void> {
  // Nothing that the caller could miss was in it.
  if (id === undefined) throw error;
  const until = performance.now() + lookupMs;
  for (;;) {
    const outcome = await pipelines
      .use((send) => findOutcome(send, xid, id, of), lookupAnswerMs)
      .catch(() => 'in progress' as const);
    if (outcome === 'committed') return;
    if (outcome === 'aborted') throw error;
    if (performance.now() > until) throw outcomeUnknown();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function outcomeUnknown(): CallFailure {
  return new CallFailure(
    'OUTCOME_UNKNOWN',
    'The call may have been accepted. A retry with the same Idempotency-Key is safe.',
    { retryAfter: 1 },
  );
}
