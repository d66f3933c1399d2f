import { CuelineError } from '../../../src/client/index.ts';

/** A 404: cached data of the resource is obsolete. */
export function isNotFound(error: unknown): boolean {
  return error instanceof CuelineError && error.status === 404;
}
