/**
 * The slots of this process: how many attempts run, and for which workspaces. The last eighth (at least one slot) is
 * reserved for workspaces that hold none, so a workspace with long executions cannot block the others.
 *
 * An attempt frees its slot when its call finishes, before its end is written, while fewer such attempts wait than there
 * are slots. Otherwise slow writes would fill the slots, and new executions would be queued: a claim costs as much as an
 * end.
 */
export interface SlotCount {
  readonly total: number;
  readonly used: number;
  /** Slots that any workspace may take now. */
  readonly free: number;
  /** Slots that a workspace without one may take now. */
  readonly freeForOthers: number;
  /** Whether the rules allow it to take a slot. */
  mayAcquire(workspaceId: string): boolean;
  /** Takes a slot if the rules allow it. */
  acquire(workspaceId: string): boolean;
  /** Counts a claimed execution, whatever the rules say. */
  add(workspaceId: string): void;
  /** Reserves slots for a claim in progress, whose workspaces are not known yet. */
  reserve(slots: number): void;
  unreserve(slots: number): void;
  release(workspaceId: string): void;
  /** The call has finished. Returns the function to call once the end is written. */
  finishCall(workspaceId: string): () => void;
  /** Whether no attempt is left, including those whose end is being written. */
  readonly idle: boolean;
  holds(workspaceId: string): boolean;
  /** The workspaces that hold a slot. */
  workspaceIds(): string[];
}

export function slotCount(total: number): SlotCount {
  const reserved = Math.max(1, Math.floor(total / 8));
  const perWorkspace = new Map<string, number>();
  let used = 0;
  let endsInProgress = 0;
  return {
    total,
    get used() {
      return used;
    },
    get free() {
      return Math.max(0, total - reserved - used);
    },
    get freeForOthers() {
      return total - used;
    },
    mayAcquire: (workspaceId) =>
      used < total && (used < total - reserved || !perWorkspace.has(workspaceId)),
    acquire(workspaceId) {
      if (!this.mayAcquire(workspaceId)) return false;
      this.add(workspaceId);
      return true;
    },
    add(workspaceId) {
      perWorkspace.set(workspaceId, (perWorkspace.get(workspaceId) ?? 0) + 1);
      used++;
    },
    reserve(slots) {
      used += slots;
    },
    unreserve(slots) {
      used -= slots;
    },
    release(workspaceId) {
      const own = perWorkspace.get(workspaceId) ?? 0;
      if (own > 1) perWorkspace.set(workspaceId, own - 1);
      else perWorkspace.delete(workspaceId);
      used--;
    },
    finishCall(workspaceId) {
      if (endsInProgress >= total) return () => this.release(workspaceId);
      endsInProgress++;
      this.release(workspaceId);
      return () => {
        endsInProgress--;
      };
    },
    get idle() {
      return used === 0 && endsInProgress === 0;
    },
    holds: (workspaceId) => perWorkspace.has(workspaceId),
    workspaceIds: () => [...perWorkspace.keys()],
  };
}
