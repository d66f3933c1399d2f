import type { Db } from '../../db/database.ts';
import type { Lease } from './lease.ts';
import { leasedExecutions } from './queue.ts';
import { type ReleaseQueue, releaseOf } from './release-queue.ts';
import type { RunningAttempts } from './running-attempts.ts';

export interface ReconcilerDeps {
  readonly db: Db;
  readonly lease: Lease;
  readonly attempts: RunningAttempts;
  readonly releases: ReleaseQueue;
  readonly onError: (error: unknown, operation: string) => void;
}

/**
 * Finds executions that are leased to this process but unknown to it, because the response to a claim or a commit was
 * lost. After two sightings in a row it releases them. If the response arrives later, `RunningAttempts` ignores it.
 */
export class Reconciler {
  readonly #deps: ReconcilerDeps;
  #suspects = new Set<string>();

  constructor(deps: ReconcilerDeps) {
    this.#deps = deps;
  }

  async reconcile(): Promise<void> {
    const { db, lease, attempts, releases, onError } = this.#deps;
    const worker = lease.current();
    if (worker === null) return;
    try {
      const leased = await leasedExecutions(db, worker);
      // A pending release carries a result. It must not be replaced by a release as unstarted.
      const known = new Set([...attempts.ids(), ...releases.ids()]);
      const unknown = leased.filter(({ id }) => !known.has(id));
      const abandoned = unknown.filter(({ id }) => this.#suspects.has(id));
      this.#suspects = new Set(unknown.map(({ id }) => id));
      attempts.ignoreClaims(abandoned);
      await releases.release(abandoned.map((execution) => releaseOf({ ...execution, worker })));
    } catch (error) {
      onError(error, 'reconciliation');
    }
  }
}
