import { uuid7 } from '../../src/core/id.ts';

let lastMs = 0;

/**
 * For what a test puts into the database itself. They come in the order in which they are asked for, which those of one
 * millisecond would not; so a few may be of a moment that is still to come. Runs do not have them: their ids tell the time.
 */
export function freshId(): string {
  lastMs = Math.max(Date.now(), lastMs + 1);
  return uuid7(lastMs);
}
