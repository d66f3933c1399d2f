/**
 * Those who wait for room at a provider. What becomes free goes from workspace to workspace: however many calls of one
 * wait, another's next call comes after one of each.
 */
export class Line<T> {
  /** By workspace; the first has its turn. */
  readonly #waiting = new Map<string, Set<(given: T | null) => void>>();

  get empty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Resolves with what one is given; with null after so long without, or once the signal aborts. */
  stand(workspaceId: string, waitMs: number, signal: AbortSignal): Promise<T | null> {
    if (signal.aborted) return Promise.resolve(null);
    return new Promise((resolve) => {
      const leave = (given: T | null) => {
        this.#remove(workspaceId, leave);
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        resolve(given);
      };
      const giveUp = () => leave(null);
      const timer = setTimeout(giveUp, waitMs);
      signal.addEventListener('abort', giveUp, { once: true });
      const own = this.#waiting.get(workspaceId) ?? new Set();
      this.#waiting.set(workspaceId, own.add(leave));
    });
  }

  /** Gives it to the next one in line, who leaves. */
  next(given: T): void {
    for (const [workspaceId, own] of this.#waiting) {
      const [first] = own;
      first?.(given);
      // The last to have its turn again.
      this.#waiting.delete(workspaceId);
      if (own.size > 0) this.#waiting.set(workspaceId, own);
      return;
    }
  }

  #remove(workspaceId: string, leave: (given: T | null) => void): void {
    const own = this.#waiting.get(workspaceId);
    own?.delete(leave);
    if (own?.size === 0) this.#waiting.delete(workspaceId);
  }
}
