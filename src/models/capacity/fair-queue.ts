/**
 * Callers that wait for capacity at a provider. Released capacity goes to the workspace that was served least recently,
 * so a workspace with many waiting calls cannot delay the only call of another.
 */
export class FairQueue<T> {
  readonly #waiting = new Map<string, Set<(value: T | null) => void>>();
  /**
   * When each workspace was last served, the latest last. It outlives the wait: a workspace with few or slow calls must
   * not queue behind those that always wait.
   */
  readonly #servedAt = new Map<string, number>();
  #served = 0;

  get empty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Resolves with a released value; with null after `waitMs` without one, or once the signal aborts. */
  acquire(workspaceId: string, waitMs: number, signal: AbortSignal): Promise<T | null> {
    if (signal.aborted) return Promise.resolve(null);
    return new Promise((resolve) => {
      const settle = (value: T | null) => {
        this.#remove(workspaceId, settle);
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        resolve(value);
      };
      const giveUp = () => settle(null);
      const timer = setTimeout(giveUp, waitMs);
      signal.addEventListener('abort', giveUp, { once: true });
      const own = this.#waiting.get(workspaceId) ?? new Set();
      this.#waiting.set(workspaceId, own.add(settle));
    });
  }

  /** Gives the value to the next caller. */
  release(value: T): void {
    const workspaceId = this.#next();
    if (workspaceId === undefined) return;
    const [first] = this.#waiting.get(workspaceId) ?? [];
    first?.(value);
    this.#servedAt.delete(workspaceId);
    this.#servedAt.set(workspaceId, ++this.#served);
    if (this.#servedAt.size <= workspacesMax) return;
    const [oldest = ''] = this.#servedAt.keys();
    this.#servedAt.delete(oldest);
  }

  /** The workspace among those that wait that was served least recently. */
  #next(): string | undefined {
    let next: string | undefined;
    let leastRecent = Number.POSITIVE_INFINITY;
    for (const workspaceId of this.#waiting.keys()) {
      const servedAt = this.#servedAt.get(workspaceId) ?? 0;
      if (servedAt >= leastRecent) continue;
      next = workspaceId;
      leastRecent = servedAt;
    }
    return next;
  }

  #remove(workspaceId: string, settle: (value: T | null) => void): void {
    const own = this.#waiting.get(workspaceId);
    own?.delete(settle);
    if (own?.size === 0) this.#waiting.delete(workspaceId);
  }
}

const workspacesMax = 1_000;
