import { CuelineError } from '../../../src/client/index.ts';

/** A 404: cached data of the resource is obsolete. */
export function isNotFound(error: unknown): boolean {
  return error instanceof CuelineError && error.status === 404;
}

/** The role does not allow it. */
export function isForbidden(error: unknown): boolean {
  return error instanceof CuelineError && error.code === 'PERMISSION_DENIED';
}

/** A 401: the session has ended or there was none. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof CuelineError && error.status === 401;
}
