import type { DueStep } from '../../store/workflow/workflow-steps.ts';

/**
 * Steps that a process holds to call their agents. No workspace holds more of the room than it leaves free: however many
 * steps of one are ready, there is room for another's, and what is called next goes from workspace to workspace.
 */
export interface StepQueue {
  /** Whether it is held now: there may be no room for it. */
  add(step: DueStep): boolean;
  /** Takes the next ones, at most so many. They are held until `done`. */
  next(count: number): DueStep[];
  done(steps: readonly DueStep[]): void;
  /** How much more of a workspace would find room now. */
  room(workspaceId: string): { readonly steps: number; readonly chars: number };
}

/** What a sweep fills up in one go must last until the next one. */
const stepsMax = 20_000;
const charsMax = 33_554_432;
/** As long as whoever takes a step has it for itself: what waits longer is left to whoever sweeps. */
const ownMs = 5_000;

interface Held {
  readonly step: DueStep;
  sinceMs: number;
}

export function stepQueue(nowMs = () => performance.now()): StepQueue {
  const held = new Map<string, Held>();
  const heldOf = new Map<string, { steps: number; chars: number }>();
  /** By workspace; the first has its turn. */
  const waiting = new Map<string, Held[]>();
  const free = { steps: stepsMax, chars: charsMax };

  function room(workspaceId: string) {
    const own = heldOf.get(workspaceId) ?? { steps: 0, chars: 0 };
    // Each one more is one less that is free.
    const left = (of: 'steps' | 'chars') => Math.max(0, Math.ceil((free[of] - own[of]) / 2));
    return { steps: left('steps'), chars: left('chars') };
  }

  function count({ workspaceId, variables }: DueStep, sign: 1 | -1): void {
    const own = heldOf.get(workspaceId) ?? { steps: 0, chars: 0 };
    own.steps += sign;
    own.chars += sign * variables.length;
    free.steps -= sign;
    free.chars -= sign * variables.length;
    if (own.steps > 0) heldOf.set(workspaceId, own);
    else heldOf.delete(workspaceId);
  }

  function letGo(step: DueStep): void {
    if (held.delete(keyOf(step))) count(step, -1);
  }

  return {
    room,
    add(step) {
      const { workspaceId } = step;
      const known = held.get(keyOf(step));
      // Taken once more, it is this process's own for as long again.
      if (known) {
        known.sinceMs = nowMs();
        return true;
      }
      const left = room(workspaceId);
      if (left.steps === 0 || left.chars === 0) return false;
      const one = { step, sinceMs: nowMs() };
      held.set(keyOf(step), one);
      count(step, 1);
      const own = waiting.get(workspaceId);
      if (own) own.push(one);
      else waiting.set(workspaceId, [one]);
      return true;
    },
    next(most) {
      const steps: DueStep[] = [];
      for (const [workspaceId, own] of waiting) {
        if (steps.length >= most) break;
        const one = own.shift();
        // The last to have its turn again; the loop comes to it.
        waiting.delete(workspaceId);
        if (own.length > 0) waiting.set(workspaceId, own);
        if (!one) continue;
        if (nowMs() - one.sinceMs > ownMs) letGo(one.step);
        else steps.push(one.step);
      }
      return steps;
    },
    done(steps) {
      for (const step of steps) letGo(step);
    },
  };
}

/** A fallback is another call, and may be ready before the first one is done. */
function keyOf({ runId, step, item, fallback }: DueStep): string {
  return `${runId} ${item} ${fallback} ${step}`;
}
