import type { BenchEnvironment } from '../environment.ts';
import type { Target } from '../load/job.ts';

/** Something under load: Cueline in one of its roles, a bare server, a peer. */
export interface Contender {
  readonly name: string;
  /** Which failures an accepted request survives. */
  readonly durability: string;
  /** Why it cannot be measured on this machine; otherwise `null`. */
  missing?(): Promise<string | null>;
  open(environment: BenchEnvironment): Promise<Opened>;
}

export interface Opened {
  readonly target: Target;
  /** The processes that serve and work. */
  readonly servers: readonly number[];
  /** The parent of the other processes of the store. */
  readonly store: number | null;
  /** Restores the initial state; resolves once the queue is empty. */
  reset(): Promise<void>;
  /** The number of executions that have ended since the last reset, durable and readable. */
  finished(): Promise<number>;
  close(): Promise<void>;
}
