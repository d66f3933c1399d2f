import type { ExecutionErrorCode } from '../../../core/failure.ts';
import { LruCache } from '../../../core/lru-cache.ts';
import { type Db, inTransaction } from '../../../db/database.ts';
import { writeEvents } from '../../../engine/complete/events.ts';
import { markFailing, markRecovered, type ProviderModel } from '../statements/failing-providers.ts';

/**
 * Reports providers that fail: ten consecutive calls with one credential and model, in this process. A credential belongs to
 * a workspace and a provider name.
 *
 * States of a model with a credential: healthy (no row) and failing (a row in `failing_providers`, written only while an
 * endpoint subscribes to these events). The tenth failure in any process reports `provider.failing`, the first success in any process `provider.recovered`.
 *
 * Invariants: the row and the event are written in one transaction, so several processes report a change once. Failures are
 * counted in memory, so a success costs no statement, except once a minute and after ten failures.
 *
 * Failure cases: a failure that could not be reported is reported with a later one, a minute later at the earliest. A
 * recovery that could not be reported follows with a later success.
 */
export interface ProviderHealth {
  called(call: ProviderCall): void;
  idle(): Promise<void>;
}

export interface ProviderCall extends ProviderModel {
  readonly outcome: string;
}

/** Times are on the monotonic clock. */
interface Tracked {
  failures: number;
  checkedAt: number;
  /** When a report that could not be written may be tried again. */
  retryAt: number;
}

const failuresMax = 10;
const trackedMax = 10_000;
/** A success asks the database this often whether a failure was reported, perhaps by another process. */
const recheckMs = 60_000;
/** A report that could not be written is tried again after this time, with the next failure. */
const retryMs = 60_000;

/** The provider did not do its work. Other failures are answers to what was asked. */
const providerFailures: ReadonlySet<string> = new Set<ExecutionErrorCode>([
  'MODEL_TIMEOUT',
  'MODEL_NOT_FOUND',
  'PROVIDER_AUTH',
  'PROVIDER_RATE_LIMITED',
  'PROVIDER_QUOTA',
  'PROVIDER_ERROR',
]);
const ignored: ReadonlySet<string> = new Set(['aborted', 'deferred', 'PROVIDER_NOT_CONFIGURED']);

export function createProviderHealth(deps: {
  readonly db: Db;
  readonly onError: (error: unknown) => void;
}): ProviderHealth {
  const tracked = new LruCache<Tracked>(trackedMax);
  let pending: Promise<unknown> = Promise.resolve();

  /** One after the other, in the order of the calls. */
  function report(work: () => Promise<void>): void {
    pending = pending.then(work).catch(deps.onError);
  }

  return {
    called({ outcome, ...key }) {
      if (ignored.has(outcome)) return;
      const id = `${key.workspaceId} ${key.provider} ${key.model}`;
      const one = tracked.getOrCreate(id, () => ({
        failures: 0,
        checkedAt: Number.NEGATIVE_INFINITY,
        retryAt: Number.POSITIVE_INFINITY,
      }));
      const now = performance.now();
      if (providerFailures.has(outcome)) {
        one.failures++;
        const isRetry = one.failures > failuresMax && now >= one.retryAt;
        if (one.failures !== failuresMax && !isRetry) return;
        one.retryAt = Number.POSITIVE_INFINITY;
        report(() =>
          reportFailing(deps.db, key, outcome).catch((error: unknown) => {
            one.retryAt = performance.now() + retryMs;
            throw error;
          }),
        );
        return;
      }
      const isDue = one.failures >= failuresMax || now - one.checkedAt > recheckMs;
      one.failures = 0;
      if (!isDue) return;
      one.checkedAt = now;
      report(() => reportRecovered(deps.db, key));
    },
    async idle() {
      await pending;
    },
  };
}

function reportFailing(db: Db, key: ProviderModel, errorCode: string): Promise<void> {
  return inTransaction(db, async (trx) => {
    const atMs = await markFailing(trx, key);
    if (atMs !== null)
      await writeEvents(trx, [event('provider.failing', key, atMs, { errorCode })]);
  });
}

function reportRecovered(db: Db, key: ProviderModel): Promise<void> {
  return inTransaction(db, async (trx) => {
    const atMs = await markRecovered(trx, key);
    if (atMs !== null) await writeEvents(trx, [event('provider.recovered', key, atMs, {})]);
  });
}

function event(
  type: 'provider.failing' | 'provider.recovered',
  { workspaceId, provider, model }: ProviderModel,
  atMs: number,
  more: Readonly<Record<string, string>>,
) {
  const data = JSON.stringify({ provider, model, ...more });
  return { workspaceId, type, atMs, subject: null, agentId: null, user: null, data };
}
