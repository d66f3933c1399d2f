import type { DueStep } from '../../../engine/advance/workflow-steps.ts';

/**
 * Ready steps that this process holds in memory until it has called their agents. A workspace may use at most as much
 * room as it leaves free, so there is always room for other workspaces. Steps leave in turn by workspace.
 */
export interface StepQueue {
  /** Returns false if there is no room. */
  add(step: DueStep): boolean;
  /** Takes up to `count` steps. They use room until `done`. */
  next(count: number): DueStep[];
  done(steps: readonly DueStep[]): void;
  /** How much more of a workspace would fit now. */
  room(workspaceId: string): { readonly steps: number; readonly chars: number };
}

/** One sweep must fill the queue until the next one. */
const stepsMax = 20_000;
const charsMax = 33_554_432;
/** How long the database reserves a step for the process that took it. An older one belongs to the next sweep. */
const reservedMs = 5_000;

interface QueuedStep {
  readonly step: DueStep;
  reservedAtMs: number;
}

export function stepQueue(nowMs = () => performance.now()): StepQueue {
  const queued = new Map<string, QueuedStep>();
  const usedBy = new Map<string, { steps: number; chars: number }>();
  /** By workspace. The first one is next. */
  const waiting = new Map<string, QueuedStep[]>();
  const free = { steps: stepsMax, chars: charsMax };

  function room(workspaceId: string) {
    const used = usedBy.get(workspaceId) ?? { steps: 0, chars: 0 };
    // Half of the difference: each step that a workspace adds also reduces what is free.
    const left = (of: 'steps' | 'chars') => Math.max(0, Math.ceil((free[of] - used[of]) / 2));
    return { steps: left('steps'), chars: left('chars') };
  }

  function count({ workspaceId, variables }: DueStep, sign: 1 | -1): void {
    const used = usedBy.get(workspaceId) ?? { steps: 0, chars: 0 };
    used.steps += sign;
    used.chars += sign * variables.length;
    free.steps -= sign;
    free.chars -= sign * variables.length;
    if (used.steps > 0) usedBy.set(workspaceId, used);
    else usedBy.delete(workspaceId);
  }

  function remove(step: DueStep): void {
    if (queued.delete(keyOf(step))) count(step, -1);
  }

  return {
    room,
    add(step) {
      const { workspaceId } = step;
      const known = queued.get(keyOf(step));
      // A sweep took it again, which renews the reservation.
      if (known) {
        known.reservedAtMs = nowMs();
        return true;
      }
      const left = room(workspaceId);
      if (left.steps === 0 || left.chars === 0) return false;
      const one = { step, reservedAtMs: nowMs() };
      queued.set(keyOf(step), one);
      count(step, 1);
      const own = waiting.get(workspaceId);
      if (own) own.push(one);
      else waiting.set(workspaceId, [one]);
      return true;
    },
    next(max) {
      const steps: DueStep[] = [];
      for (const [workspaceId, own] of waiting) {
        if (steps.length >= max) break;
        const one = own.shift();
        // To the end of the map, which this loop reaches as well.
        waiting.delete(workspaceId);
        if (own.length > 0) waiting.set(workspaceId, own);
        if (!one) continue;
        if (nowMs() - one.reservedAtMs > reservedMs) remove(one.step);
        else steps.push(one.step);
      }
      return steps;
    },
    done(steps) {
      for (const step of steps) remove(step);
    },
  };
}

/** The fallback of a step is a separate call, and may be ready before the first one is done. */
function keyOf({ runId, step, item, fallback }: DueStep): string {
  return `${runId} ${item} ${fallback} ${step}`;
}
