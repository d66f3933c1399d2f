/**
 * Those who wait for room at a provider. What becomes free goes to the workspace that was given something longest ago:
 * however many calls of one wait, another's that stands here goes before its second.
 */
export class Line<T> {
  readonly #waiting = new Map<string, Set<(given: T | null) => void>>();
  /**
   * When each workspace last had its turn, the latest last. It outlives the wait: who leaves and comes back, since it has
   * few calls that wait or calls that are slow, must not stand behind those who are always here.
   */
  readonly #turns = new Map<string, number>();
  #turn = 0;

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

  /** Gives it to whose turn it is, who leaves. */
  next(given: T): void {
    const workspaceId = this.#whoseTurn();
    if (workspaceId === undefined) return;
    const [first] = this.#waiting.get(workspaceId) ?? [];
    first?.(given);
    this.#turns.delete(workspaceId);
    this.#turns.set(workspaceId, ++this.#turn);
    if (this.#turns.size <= turnsMax) return;
    const [oldest = ''] = this.#turns.keys();
    this.#turns.delete(oldest);
  }

  #whoseTurn(): string | undefined {
    let found: string | undefined;
    let longestAgo = Number.POSITIVE_INFINITY;
    for (const workspaceId of this.#waiting.keys()) {
      const turn = this.#turns.get(workspaceId) ?? 0;
      if (turn >= longestAgo) continue;
      found = workspaceId;
      longestAgo = turn;
    }
    return found;
  }

  #remove(workspaceId: string, leave: (given: T | null) => void): void {
    const own = this.#waiting.get(workspaceId);
    own?.delete(leave);
    if (own?.size === 0) this.#waiting.delete(workspaceId);
  }
}

/** Whoever is forgotten had its turn longest ago. */
const turnsMax = 1_000;
