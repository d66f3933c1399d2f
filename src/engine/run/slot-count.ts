import type { QueuedExecution } from '../../core/execution/queued-execution.ts';

/**
 * The slots of this process: how many attempts run, with how many bytes of input, and for which workspaces. The last eighth
 * (at least one slot) is reserved for workspaces that hold none, so a workspace with long executions cannot block the others.
 * Those that hold no bytes either get a slot also if all bytes are used.
 *
 * An attempt frees its slot when its call finishes, before its end is written, while fewer such attempts wait than there
 * are slots. Otherwise slow writes would fill the slots, and new executions would be queued: a claim costs as much as an
 * end. It frees its bytes once its end is written.
 */
export interface SlotCount {
  readonly total: number;
  readonly used: number;
  /** Slots that any workspace may take now: none while all bytes are used. */
  readonly free: number;
  /** Bytes of input that any workspace may add now. */
  readonly freeBytes: number;
  readonly bytesMax: number;
  readonly usedBytes: number;
  /** Slots that a workspace without one may take now. */
  readonly freeForOthers: number;
  /** Whether the rules allow it to take a slot. */
  mayAcquire(use: SlotUse): boolean;
  /** Takes a slot if the rules allow it. */
  acquire(use: SlotUse): boolean;
  /** Counts a claimed execution, whatever the rules say. */
  add(use: SlotUse): void;
  /** Reserves slots and bytes for a claim in progress, whose workspaces are not known yet. */
  reserve(slots: number, bytes: number): void;
  unreserve(slots: number, bytes: number): void;
  release(use: SlotUse): void;
  /** The call has finished. Returns the function to call once the end is written. */
  finishCall(use: SlotUse): () => void;
  /** Whether no attempt is left, including those whose end is being written. */
  readonly idle: boolean;
  holds(workspaceId: string): boolean;
  /** The workspaces that hold a slot. */
  workspaceIds(): string[];
}

/** An execution in a slot. */
export type SlotUse = Pick<QueuedExecution, 'workspaceId' | 'inputBytes'>;

export function slotCount(total: number, bytesMax: number): SlotCount {
  const reserved = Math.max(1, Math.floor(total / 8));
  /** Of each workspace: its slots, and the bytes that it holds until its ends are written. */
  const perWorkspace = new Map<string, { slots: number; bytes: number }>();
  let used = 0;
  let usedBytes = 0;
  /** For claims in progress. */
  let reservedBytes = 0;
  let endsInProgress = 0;
  function change(workspaceId: string, slots: number, bytes: number): void {
    const own = perWorkspace.get(workspaceId) ?? { slots: 0, bytes: 0 };
    own.slots += slots;
    own.bytes += bytes;
    if (own.slots > 0 || own.bytes > 0) perWorkspace.set(workspaceId, own);
    else perWorkspace.delete(workspaceId);
    used += slots;
    usedBytes += bytes;
  }
  return {
    total,
    bytesMax,
    get used() {
      return used;
    },
    get usedBytes() {
      return usedBytes;
    },
    get free() {
      return this.freeBytes > 0 ? Math.max(0, total - reserved - used) : 0;
    },
    get freeBytes() {
      return Math.max(0, bytesMax - usedBytes - reservedBytes);
    },
    get freeForOthers() {
      return total - used;
    },
    mayAcquire({ workspaceId, inputBytes }) {
      if (used >= total) return false;
      if (!perWorkspace.has(workspaceId)) return true;
      const isReserved = used >= total - reserved && this.holds(workspaceId);
      return !isReserved && inputBytes <= this.freeBytes;
    },
    acquire(use) {
      if (!this.mayAcquire(use)) return false;
      this.add(use);
      return true;
    },
    add: ({ workspaceId, inputBytes }) => change(workspaceId, 1, inputBytes),
    reserve(slots, bytes) {
      used += slots;
      reservedBytes += bytes;
    },
    unreserve(slots, bytes) {
      used -= slots;
      reservedBytes -= bytes;
    },
    release: ({ workspaceId, inputBytes }) => change(workspaceId, -1, -inputBytes),
    finishCall(use) {
      if (endsInProgress >= total) return () => this.release(use);
      endsInProgress++;
      change(use.workspaceId, -1, 0);
      return () => {
        endsInProgress--;
        change(use.workspaceId, 0, -use.inputBytes);
      };
    },
    get idle() {
      return used === 0 && endsInProgress === 0;
    },
    holds: (workspaceId) => (perWorkspace.get(workspaceId)?.slots ?? 0) > 0,
    workspaceIds() {
      return [...perWorkspace.keys()].filter((one) => this.holds(one));
    },
  };
}
