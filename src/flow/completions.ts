import type { EndedExecution } from '../store/execution/completion.ts';
import type { Progress } from './workflow/progress.ts';

/**
 * What one committed transaction made final. Everything in this process that follows an end derives from this one event:
 * waiting callers, the worker, other processes, metrics, the log, and the next steps of workflow runs.
 *
 * The event follows the commit, so a crash may lose it. Nothing durable depends on it: polls and sweeps find what was missed.
 * What must not be lost is written by the transaction itself.
 */
export interface CompletionEvent {
  readonly executions: readonly EndedExecution[];
  /** Canceled executions that a worker had claimed: it must abort the call. */
  readonly interrupted: readonly string[];
  /** Whether executions that waited for a slot of their agent may be ready now. */
  readonly slotsFreed: boolean;
  /** How workflow runs advanced and ended; null if none did. */
  readonly progress: Progress | null;
  /** Whether outbound events must be sent. */
  readonly eventsQueued: boolean;
}

export type CompletionListener = (event: CompletionEvent) => void;

export interface Completions {
  /** Call it after the commit. */
  publish(event: CompletionEvent): void;
  /** Listeners are called in the order of their subscription: `wiring/engine.ts` has them all. */
  subscribe(listener: CompletionListener): void;
}

export function createCompletions(): Completions {
  const listeners: CompletionListener[] = [];
  return {
    publish(event) {
      for (const listener of listeners) listener(event);
    },
    subscribe(listener) {
      listeners.push(listener);
    },
  };
}

/** The event of a transaction that ended no execution. */
export function progressed(progress: Progress, eventsQueued: boolean): CompletionEvent {
  return { executions: [], interrupted: [], slotsFreed: false, progress, eventsQueued };
}
