/**
 * How many runs this process works on, and for whom. The last eighth of the slots (at least one) goes only to
 * workspaces that hold none: however long the runs of one workspace take, another's next run finds a place.
 *
 * A run whose call is over gives its slot on while its end is written, as long as fewer such runs wait than there are
 * slots. Were the slots full of them, what is accepted meanwhile would be queued, and a claim costs as much as an end.
 */
export interface SlotCount {
  readonly total: number;
  readonly used: number;
  /** Slots that anyone may take now. */
  readonly free: number;
  /** Slots that a workspace without one may take now. */
  readonly freeForOthers: number;
  take(workspaceId: string): boolean;
  /** Counts a run that has been claimed: it is here, whatever the rules say. */
  add(workspaceId: string): void;
  /** Keeps slots for a claim under way, of which the workspaces are not known yet. */
  hold(slots: number): void;
  unhold(slots: number): void;
  giveBack(workspaceId: string): void;
  /** The call of a run is over; answers what is to be called once its end is written. */
  callOver(workspaceId: string): () => void;
  /** Whether no run is here any more, not even one whose end is being written. */
  readonly idle: boolean;
  /** The workspaces that hold a slot. */
  holders(): string[];
}

export function slotCount(total: number): SlotCount {
  const reserved = Math.max(1, Math.floor(total / 8));
  const held = new Map<string, number>();
  let used = 0;
  let ending = 0;
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
    take(workspaceId) {
      const mine = held.get(workspaceId) ?? 0;
      if (used >= total || (used >= total - reserved && mine > 0)) return false;
      this.add(workspaceId);
      return true;
    },
    add(workspaceId) {
      held.set(workspaceId, (held.get(workspaceId) ?? 0) + 1);
      used++;
    },
    hold(slots) {
      used += slots;
    },
    unhold(slots) {
      used -= slots;
    },
    giveBack(workspaceId) {
      const mine = held.get(workspaceId) ?? 0;
      if (mine > 1) held.set(workspaceId, mine - 1);
      else held.delete(workspaceId);
      used--;
    },
    callOver(workspaceId) {
      if (ending >= total) return () => this.giveBack(workspaceId);
      ending++;
      this.giveBack(workspaceId);
      return () => {
        ending--;
      };
    },
    get idle() {
      return used === 0 && ending === 0;
    },
    holders: () => [...held.keys()],
  };
}
