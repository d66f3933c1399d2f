/**
 * The idle connections of one process to one database, in all its pools. If one connection died silently or turned out to
 * reach a standby, the others did too: they are closed together, and the next statements find the new primary.
 */
export class IdleConnections {
  readonly #closers = new Set<() => void>();
  #closedAt = Number.NEGATIVE_INFINITY;

  /** Each pool has a function that closes its idle connections. */
  add(closeIdle: () => void): void {
    this.#closers.add(closeIdle);
  }

  /** At most once a second: while a primary stays read-only, reads go on. */
  close(): void {
    const now = performance.now();
    if (now - this.#closedAt < intervalMs) return;
    this.#closedAt = now;
    for (const closeIdle of this.#closers) closeIdle();
  }
}

const intervalMs = 1_000;
