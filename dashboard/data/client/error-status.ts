import { CuelineError } from '../../../src/client/index.ts';

/** A 404: cached data of the resource is obsolete. */
export function isNotFound(error: unknown): boolean {
  return error instanceof CuelineError && error.status === 404;
}

/** A 403: the role does not allow it. */
export function isForbidden(error: unknown): boolean {
  return error instanceof CuelineError && error.status === 403;
}

/** A 401: the session has ended or there was none. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof CuelineError && error.status === 401;
}
