import type { Cueline } from '../../client/index.ts';

/** What a command that calls a server is given. */
export interface Call {
  readonly cueline: Cueline;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  readonly json: boolean;
}
