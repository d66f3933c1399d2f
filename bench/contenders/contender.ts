import type { BenchEnvironment } from '../environment.ts';
import type { Target } from '../load/job.ts';

/** A system under load: Cueline in one of its roles, a bare server, a peer. */
export interface Contender {
  readonly name: string;
  /** The failures that an accepted request survives. */
  readonly durability: string;
  /** Why it cannot be measured on this machine; otherwise `null`. */
  missing?(): Promise<string | null>;
  open(environment: BenchEnvironment): Promise<Opened>;
}

export interface Opened {
  readonly target: Target;
  /** Process ids of the servers and workers. */
  readonly servers: readonly number[];
  /** Process id of the parent of all store processes. */
  readonly store: number | null;
  /** Restores the initial state; resolves once the queue is empty. */
  reset(): Promise<void>;
  /** The number of ended executions since the last reset that are durable and readable. */
  finished(): Promise<number>;
  close(): Promise<void>;
}
