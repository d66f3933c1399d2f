import { CuelineError } from '../../../src/client/index.ts';

/** A 401: the session has ended or there was none. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof CuelineError && error.status === 401;
}
