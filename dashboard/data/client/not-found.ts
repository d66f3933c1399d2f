import { CuelineError } from '../../../src/client/index.ts';

/** It was there no more, or never: what was read of it before says nothing now. */
export function isGone(error: unknown): boolean {
  return error instanceof CuelineError && error.status === 404;
}
