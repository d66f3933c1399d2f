/**
 * Limits the concurrent reads of histories, so that one caller or workspace cannot take all connections.
 *
 * A read holds a slot while it runs. Reads beyond a limit wait in the order of their arrival; a waiting read is passed over
 * while its own caller or workspace has no slot left. The last `reserved` slots go only to workspaces that hold none.
 */
export interface ReadSlotLimits {
  readonly max: number;
  readonly ofWorkspaceMax: number;
  readonly ofCallerMax: number;
  /** Of these, the searches, each of which can keep a core of the database busy. */
  readonly searchesOfCallerMax: number;
  readonly reserved: number;
  /** How long a read waits for a slot, in milliseconds. */
  readonly waitMs: number;
}

/** The workspace and the key or user that a read counts for. */
export interface Reader {
  readonly id: string;
  readonly workspaceId: string;
}

export interface HistoryReader extends Reader {
  /** Whether it looks at records one by one. */
  readonly isSearch: boolean;
}

interface Waiting {
  readonly reader: HistoryReader;
  readonly grant: () => void;
}

export class ReadSlots {
  readonly #limits: ReadSlotLimits;
  readonly #ofCaller = new Map<string, number>();
  readonly #searchesOfCaller = new Map<string, number>();
  readonly #ofWorkspace = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  #used = 0;

  constructor(limits: ReadSlotLimits) {
    this.#limits = limits;
  }

  /** Resolves with false if the reader gets no slot in time, or if `signal` aborts first. */
  acquire(reader: HistoryReader, signal?: AbortSignal): Promise<boolean> {
    if (signal?.aborted) return Promise.resolve(false);
    if (this.#isFreeFor(reader)) {
      this.#count(reader, 1);
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const end = (granted: boolean) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
        this.#waiting.delete(waiting);
        resolve(granted);
      };
      const giveUp = () => end(false);
      const waiting: Waiting = { reader, grant: () => end(true) };
      const timer = setTimeout(giveUp, this.#limits.waitMs);
      signal?.addEventListener('abort', giveUp);
      this.#waiting.add(waiting);
    });
  }

  release(reader: HistoryReader): void {
    this.#count(reader, -1);
    for (const { reader, grant } of this.#waiting) {
      if (this.#used >= this.#limits.max) return;
      if (!this.#isFreeFor(reader)) continue;
      this.#count(reader, 1);
      grant();
    }
  }

  #isFreeFor({ id, workspaceId, isSearch }: HistoryReader): boolean {
    const { max, ofWorkspaceMax, ofCallerMax, searchesOfCallerMax, reserved } = this.#limits;
    const ofWorkspace = this.#ofWorkspace.get(workspaceId) ?? 0;
    if (ofWorkspace >= ofWorkspaceMax || (this.#ofCaller.get(id) ?? 0) >= ofCallerMax) return false;
    if (isSearch && (this.#searchesOfCaller.get(id) ?? 0) >= searchesOfCallerMax) return false;
    return this.#used < (ofWorkspace === 0 ? max : max - reserved);
  }

  #count({ id, workspaceId, isSearch }: HistoryReader, change: 1 | -1): void {
    this.#used += change;
    add(this.#ofCaller, id, change);
    add(this.#ofWorkspace, workspaceId, change);
    if (isSearch) add(this.#searchesOfCaller, id, change);
  }
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
