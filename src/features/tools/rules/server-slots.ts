/**
 * Requests in flight to each server, of this process. Who waits for a slot holds nothing, and executions take turns: one with many
 * calls does not delay the only call of another.
 */
export class ServerSlots {
  readonly #servers = new Map<string, Server>();

  /** Null if no slot becomes free in time, or once the signal aborts. */
  acquire(
    serverId: string,
    slot: {
      readonly max: number;
      readonly executionId: string;
      readonly waitMs: number;
      readonly signal: AbortSignal;
    },
  ): Promise<(() => void) | null> {
    const { max, executionId, waitMs, signal } = slot;
    if (signal.aborted) return Promise.resolve(null);
    const server = this.#servers.get(serverId) ?? { max, used: 0, waiting: new Map() };
    this.#servers.set(serverId, server);
    server.max = max;
    if (server.used < max) return Promise.resolve(this.#take(serverId, server));
    return new Promise((resolve) => {
      const settle = (isGranted: boolean) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        this.#remove(server, executionId, grant);
        resolve(isGranted ? this.#take(serverId, server) : null);
      };
      const grant = () => settle(true);
      const giveUp = () => settle(false);
      const timer = setTimeout(giveUp, waitMs);
      signal.addEventListener('abort', giveUp, { once: true });
      const own = server.waiting.get(executionId) ?? new Set();
      server.waiting.set(executionId, own.add(grant));
    });
  }

  #take(serverId: string, server: Server): () => void {
    server.used++;
    let isInUse = true;
    return () => {
      if (!isInUse) return;
      isInUse = false;
      server.used--;
      if (server.used < server.max) this.#grantNext(server);
      if (server.used === 0) this.#servers.delete(serverId);
    };
  }

  /** The first of the waiting executions; its further calls then wait behind those of the others. */
  #grantNext(server: Server): void {
    const [next] = server.waiting;
    if (!next) return;
    const [executionId, [grant]] = next;
    server.waiting.delete(executionId);
    server.waiting.set(executionId, next[1]);
    grant?.();
  }

  #remove({ waiting }: Server, executionId: string, grant: () => void): void {
    const own = waiting.get(executionId);
    own?.delete(grant);
    if (own?.size === 0) waiting.delete(executionId);
  }
}

interface Server {
  max: number;
  used: number;
  /** By execution, in the order of their turns. */
  readonly waiting: Map<string, Set<() => void>>;
}
