import { CallFailure } from './failure.ts';

/**
 * Shares between workspaces what requests hold in this process: waits, streams, uploads, connections of the database.
 *
 * Rules
 * - A workspace holds at most all but a tenth of the slots, whatever its number of keys and users.
 * - While workspaces wait, a free slot goes to the one that holds the fewest.
 * - A workspace waits while one of its requests is queued. Where requests are refused instead of queued, it waits for `claimMs`
 *   after one was refused because no slot was free: otherwise a workspace that asks more often would get each slot.
 * - Slots that can be revoked: while all are in use, a workspace without one takes over the oldest slot of a workspace with
 *   several. The last slot of a workspace is never revoked.
 *
 * A slot is taken before a connection of the database, so a request that waits for one holds nothing.
 */

/** What is shared, as errors and metrics name it. */
export type SharedResource = keyof typeof resourceTexts;

const resourceTexts = {
  waits: 'waits for results',
  streams: 'open streams',
  toolCalls: 'open calls of tools',
  uploads: 'uploads of batches',
  results: 'downloads of batch results',
  exports: 'exports',
  longPages: 'pages of long records',
  historyReads: 'lists, searches and statistics',
  searches: 'searches',
  declarations: 'reads and applies of declarations',
  providerTests: 'tests of providers',
  connections: 'connections to the database',
  singleConnections: 'connections for single records',
} as const;

export const sharedResources = Object.keys(resourceTexts) as SharedResource[];

export interface ShareLimits {
  readonly resource: SharedResource;
  readonly max: number;
  /** How long a request waits for a slot before it is refused, in milliseconds. Default: not at all. */
  readonly waitMs?: number;
  /** Requests of one workspace that wait. */
  readonly waitingMax?: number;
}

/** Frees a slot. Calling it again has no effect. */
export type Release = () => void;

/** Whose slots are in use. */
export type ShareScope = 'workspace' | 'process';

interface RevocableSlot {
  readonly workspaceId: string;
  readonly release: Release;
  readonly onRevoked: (failure: CallFailure) => void;
}

/** How long a slot is kept for a workspace that was refused. Longer than `retryAfter`. */
const claimMs = 10_000;
const retryAfter = 5;

export class Shares {
  readonly resource: SharedResource;
  readonly max: number;
  readonly workspaceMax: number;
  /** Refused requests so far. */
  readonly refusals: Record<ShareScope, number> = { workspace: 0, process: 0 };
  readonly #waitMs: number;
  readonly #waitingMax: number;
  readonly #inUse = new Map<string, number>();
  readonly #queue = new Map<string, Set<() => void>>();
  readonly #claims = new Map<string, NodeJS.Timeout>();
  /** The oldest first. */
  readonly #revocable = new Set<RevocableSlot>();
  #used = 0;

  constructor({ resource, max, waitMs = 0, waitingMax = 100 }: ShareLimits) {
    this.resource = resource;
    this.max = max;
    this.workspaceMax = Math.max(1, max - Math.ceil(max / 10));
    this.#waitMs = waitMs;
    this.#waitingMax = waitingMax;
  }

  get used(): number {
    return this.#used;
  }

  /** Null if no slot is free for the workspace. */
  tryTake(workspaceId: string): Release | null {
    const scope = this.#obstacle(workspaceId);
    if (scope === null) return this.#hold(workspaceId);
    this.#refuse(workspaceId, scope);
    return null;
  }

  /** @throws {CallFailure} UNAVAILABLE if no slot is free for the workspace */
  take(workspaceId: string): Release {
    const scope = this.#obstacle(workspaceId);
    if (scope !== null) throw this.#refuse(workspaceId, scope);
    return this.#hold(workspaceId);
  }

  /** Takes a slot that another workspace may take over: `onRevoked` then receives the error for the client. */
  takeRevocable(workspaceId: string, onRevoked: RevocableSlot['onRevoked']): Release {
    if (this.#used >= this.max && this.#usedBy(workspaceId) === 0) this.#revokeOldest();
    const release = this.take(workspaceId);
    const slot: RevocableSlot = {
      workspaceId,
      onRevoked,
      release: () => {
        this.#revocable.delete(slot);
        release();
      },
    };
    this.#revocable.add(slot);
    return slot.release;
  }

  /**
   * Takes a slot once one is free for the workspace.
   * @throws {CallFailure} UNAVAILABLE if none becomes free in time
   */
  async wait(workspaceId: string, signal?: AbortSignal): Promise<Release> {
    signal?.throwIfAborted();
    const scope = this.#obstacle(workspaceId);
    if (scope === null) return this.#hold(workspaceId);
    const waiting = this.#queue.get(workspaceId)?.size ?? 0;
    const granted =
      this.#waitMs > 0 && waiting < this.#waitingMax && (await this.#queued(workspaceId, signal));
    if (granted) return granted;
    signal?.throwIfAborted();
    throw this.#refuse(workspaceId, this.#obstacle(workspaceId) ?? scope);
  }

  #queued(workspaceId: string, signal: AbortSignal | undefined): Promise<Release | null> {
    return new Promise((resolve) => {
      const own = this.#queue.get(workspaceId) ?? new Set();
      const end = (granted: Release | null) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
        own.delete(grant);
        if (own.size === 0) this.#queue.delete(workspaceId);
        resolve(granted);
      };
      const grant = () => end(this.#hold(workspaceId));
      const giveUp = () => end(null);
      const timer = setTimeout(giveUp, this.#waitMs);
      signal?.addEventListener('abort', giveUp);
      this.#queue.set(workspaceId, own.add(grant));
    });
  }

  /** Whose slots are in use; null if the workspace may take one. */
  #obstacle(workspaceId: string): ShareScope | null {
    const own = this.#usedBy(workspaceId);
    if (own >= this.workspaceMax) return 'workspace';
    let free = this.max - this.#used;
    for (const other of this.#claims.keys()) {
      if (free <= 0) break;
      if (other !== workspaceId && this.#usedBy(other) < own) free--;
    }
    return free > 0 ? null : 'process';
  }

  #usedBy(workspaceId: string): number {
    return this.#inUse.get(workspaceId) ?? 0;
  }

  #hold(workspaceId: string): Release {
    this.#used++;
    this.#inUse.set(workspaceId, this.#usedBy(workspaceId) + 1);
    clearTimeout(this.#claims.get(workspaceId));
    this.#claims.delete(workspaceId);
    let isInUse = true;
    return () => {
      if (isInUse) this.#free(workspaceId);
      isInUse = false;
    };
  }

  #free(workspaceId: string): void {
    const left = this.#usedBy(workspaceId) - 1;
    if (left > 0) this.#inUse.set(workspaceId, left);
    else this.#inUse.delete(workspaceId);
    this.#used--;
    this.#nextWaiting()?.();
  }

  /** The oldest request of the waiting workspace that holds the fewest slots. */
  #nextWaiting(): (() => void) | undefined {
    let next: (() => void) | undefined;
    let fewest = this.workspaceMax;
    for (const [workspaceId, [oldest]] of this.#queue) {
      const own = this.#usedBy(workspaceId);
      if (own >= fewest) continue;
      next = oldest;
      fewest = own;
    }
    return next;
  }

  #revokeOldest(): void {
    const oldest = [...this.#revocable].find(({ workspaceId }) => this.#usedBy(workspaceId) > 1);
    if (!oldest) return;
    oldest.release();
    const message = `This response was aborted to free one of the ${this.max} ${resourceTexts[this.resource]} of the process for another workspace. Try again.`;
    oldest.onRevoked(this.#failure('process', this.max, message));
  }

  #refuse(workspaceId: string, scope: ShareScope): CallFailure {
    this.refusals[scope]++;
    if (scope === 'workspace') {
      const message = `This workspace uses its share of the ${resourceTexts[this.resource]} of this process: ${this.workspaceMax} of ${this.max}. Try again when one of them has ended.`;
      return this.#failure(scope, this.workspaceMax, message);
    }
    // In a queue, requests that still wait are served in turn: a slot that is kept for one that left would serve nobody.
    if (this.#waitMs === 0) this.#claim(workspaceId);
    const message = `All ${this.max} ${resourceTexts[this.resource]} of this process are in use. Try again.`;
    return this.#failure(scope, this.max, message);
  }

  #failure(scope: ShareScope, limit: number, message: string): CallFailure {
    const share = { resource: this.resource, scope, limit };
    return new CallFailure('UNAVAILABLE', message, { retryAfter, share });
  }

  #claim(workspaceId: string): void {
    const timer = this.#claims.get(workspaceId);
    if (timer) return void timer.refresh();
    const end = () => this.#claims.delete(workspaceId);
    this.#claims.set(workspaceId, setTimeout(end, claimMs).unref());
  }
}
