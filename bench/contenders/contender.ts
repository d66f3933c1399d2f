import type { BenchEnvironment } from '../environment.ts';
import type { Target } from '../load/job.ts';

/** Something that takes the load: Cueline in one of its forms, a bare server, a peer. */
export interface Contender {
  readonly name: string;
  /** What an answer of it survives, or why it survives nothing. */
  readonly durability: string;
  /** Why it cannot be measured on this machine; `null` where it can. */
  missing?(): Promise<string | null>;
  open(environment: BenchEnvironment): Promise<Opened>;
}

export interface Opened {
  readonly target: Target;
  /** The processes that answer and work. */
  readonly servers: readonly number[];
  /** The process that the store's others descend from. */
  readonly store: number | null;
  /** Makes everything as it was before the first round; resolves once what was queued is done. */
  reset(): Promise<void>;
  /** BenchmarkOptions many runs have ended, durably and readable, since the last reset. */
  finished(): Promise<number>;
  close(): Promise<void>;
}
