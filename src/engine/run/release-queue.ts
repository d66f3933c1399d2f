import { type Retry, retry } from '../../core/execution/outcome.ts';
import type { Claim, QueuedExecution } from '../../core/execution/queued-execution.ts';
import type { Db } from '../../db/database.ts';
import type { ClaimLoop } from './claim.ts';
import { type Release, releaseExecutions } from './queue.ts';

/** The statement has a short timeout. */
const releasesPerStatementMax = 1_000;

export interface ReleaseQueueDeps {
  readonly db: Db;
  readonly claims: Pick<ClaimLoop, 'wakeAfter'>;
  readonly onError: (error: unknown, operation: string) => void;
}

/**
 * Returns executions to the queue. A release that fails stays pending until the next contact with the database. If the
 * lease ends first, another process frees the execution.
 */
export class ReleaseQueue {
  readonly #deps: ReleaseQueueDeps;
  #pending: Release[] = [];

  constructor(deps: ReleaseQueueDeps) {
    this.#deps = deps;
  }

  async release(releases: readonly Release[]): Promise<void> {
    const { db, claims, onError } = this.#deps;
    let rest = releases;
    try {
      while (rest.length > 0) {
        const batch = rest.slice(0, releasesPerStatementMax);
        await releaseExecutions(db, batch);
        for (const { delayMs } of batch) claims.wakeAfter(delayMs);
        rest = rest.slice(releasesPerStatementMax);
      }
    } catch (error) {
      onError(error, 'release');
      this.#pending.push(...rest);
    }
  }

  /** For a release while the database is silent. */
  defer(release: Release): void {
    this.#pending.push(release);
  }

  async retry(): Promise<void> {
    await this.release(this.#pending.splice(0));
  }

  /** The lease is lost: the executions belong to other processes. */
  discard(): void {
    this.#pending = [];
  }

  ids(): string[] {
    return this.#pending.map(({ id }) => id);
  }
}

/** Returns an execution exactly as it was claimed, by default. */
export function releaseOf(
  { id, worker, attempt }: Pick<QueuedExecution, 'id'> & Claim,
  outcome: Partial<Retry> = {},
): Release {
  return { ...retry(outcome), id, worker, attempt };
}
